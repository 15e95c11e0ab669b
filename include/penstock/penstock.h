// All of Penstock's C++ interface.
#pragma once

#include "penstock/calls.h"
#include "penstock/dataset.h"
#include "penstock/error.h"
#include "penstock/error_origin.h"
#include "penstock/exchange.h"
#include "penstock/extend.h"
#include "penstock/function.h"
#include "penstock/iterator.h"
#include "penstock/job.h"
#include "penstock/lock_clock.h"
#include "penstock/spec.h"
#include "penstock/tensor.h"
