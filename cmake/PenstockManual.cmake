# The man page and the completions, printed by the program that they are about.
include(GNUInstallDirs)
set(manual ${CMAKE_CURRENT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual})
set(manual_files)
function(penstock_prints file)
  add_custom_command(OUTPUT ${manual}/${file}
    COMMAND penstock_cli ${ARGN} > ${manual}/${file}
    DEPENDS penstock_cli VERBATIM)
  set(manual_files ${manual_files} ${manual}/${file} PARENT_SCOPE)
endfunction()
penstock_prints(penstock.1 help --man)
penstock_prints(penstock.bash completions bash)
penstock_prints(_penstock completions zsh)
penstock_prints(penstock.fish completions fish)
add_custom_target(penstock_manual ALL DEPENDS ${manual_files})

install(FILES ${manual}/penstock.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES ${manual}/penstock.bash RENAME penstock
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(FILES ${manual}/_penstock DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(FILES ${manual}/penstock.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
