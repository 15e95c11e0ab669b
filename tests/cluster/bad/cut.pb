
‹|
∆
)/job:worker/replica:0/task:0/device:CPU:0¥

RecvTensor¨£ †Ñòò »≥(»≥:"ÄÄ@Bä[1.0MB] [150.462906Mb/s] edge_29_mlp0/weights/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0∞

RecvTensorï• †Ñòò ó≤(ó≤:"ÄBá[1024B] [0.147404Mb/s] edge_33_mlp1/biases/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0∞

RecvTensor•• †Ñòò û±(û±:"ÄBá[1024B] [0.147726Mb/s] edge_36_mlp2/biases/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0±

RecvTensor€• †Ñòò ˝µ(˝µ:"ÄBà[1024B] [0.146127Mb/s] edge_38_mlp3/weights/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0¨

RecvTensor§¶ †Ñòò ´∂(´∂:"BÑ[4B] [0.000570Mb/s] edge_39_mlp3/biases/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0∞

RecvTensorò¶ †Ñòò ∆∂(∆∂:"ÄBá[2048B] [0.291873Mb/s] edge_30_mlp0/biases/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0≥

RecvTensor∑ß †Ñòò ¿ö(¿ö:"ÄÄ Bâ[0.5MB] [49.164291Mb/s] edge_32_mlp1/weights/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0≥

RecvTensor√© †Ñòò ùá(ùá:"ÄÄBâ[0.2MB] [21.134466Mb/s] edge_35_mlp2/weights/read from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0ª

RecvTensorÕ‘ †Ñòò Ùì(Ùì:"ÄÄBë[0.1MB] [10.397176Mb/s] edge_22_emb1_fwd/embedding_lookup from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0ª

RecvTensorïÉÀ†Ñòò π÷(π÷:"ÄÄBë[0.2MB] [19.175013Mb/s] edge_21_emb0_fwd/embedding_lookup from /job:ps/replica:0/task:0/device:CPU:0 to /job:worker/replica:0/task:0/device:CPU:0
∫
%/job:ps/replica:0/task:0/device:CPU:0¨

RecvTensorÿœ †Ñòò §(§:"Ä@BÖ[8192B] [156.038101Mb/s] edge_19_emb1_fwd/ids from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0∑

RecvTensorÖ— †Ñòò ¸(¸:"Bë[4B] [0.084211Mb/s] edge_49_GradientDescent/learning_rate from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0´

RecvTensor≤Û †Ñòò ß(ß:"Ä@BÑ[8192B] [38.482677Mb/s] edge_16_emb0_fwd/ids from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0Æ

RecvTensorÌé”†Ñòò Ô(Ô:"ÄBá[1024B] [7.217621Mb/s] edge_50_mlp3_bwd/compute from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0™

RecvTensorÕå”†Ñòò ó(ó:"BÑ[4B] [0.022362Mb/s] edge_53_mlp3_bwd/compute from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0Æ

RecvTensorù’”†Ñòò áZ(áZ:"ÄBá[1024B] [0.710679Mb/s] edge_63_mlp2_bwd/compute from /job:worker/replica:0/task:0/device:CPU:0 to /job:ps/replica:0/task:0/device:CPU:0±

RecvTensorè’”†Ñòò óZ(