// What the audio ops share. Signals are float32 along the last axis; complex values are two floats,
// real and imaginary, on a last axis of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "functions/op.h"

namespace penstock {

// An op of the group "audio".
OpDef audio_op(std::string name, std::vector<Param> params, std::string doc,
               Spec (*infer)(const InferContext&), RowKernel row, double cost_ns);

// Throws TypeError unless input i may be float32 of at least `rank` axes.
const LeafSpec& infer_signal(const InferContext& context, int i, int rank);
// The same at run time, for a rank that was not known.
void check_signal(const char* op, const Tensor& tensor, int rank);
// A positive whole number as attribute; `none` gives `otherwise`.
int64_t positive_attr(const Attrs& attrs, const char* name, int64_t otherwise);
// The shape with its last `drop` sizes replaced.
Shape with_last(const Shape& shape, int drop, std::vector<int64_t> sizes);
Dims with_last(const Dims& dims, int drop, std::vector<int64_t> sizes);
// The product of all sizes but the last `drop`.
int64_t leading(const Dims& dims, int drop);

// Samples from the first frame's begin to the last one's end; at most 2^56, which no buffer holds.
int64_t covered_samples(int64_t frames, int64_t step, int64_t length);
// How many frames a signal of `samples` gives. With pad_end each step that begins inside counts.
int64_t frame_count(int64_t samples, int64_t length, int64_t step, bool pad_end);

void add_audio_file_ops(OpRegistry* registry);
void add_window_ops(OpRegistry* registry);
void add_frame_ops(OpRegistry* registry);
void add_fourier_ops(OpRegistry* registry);
void add_stft_ops(OpRegistry* registry);
void add_mel_ops(OpRegistry* registry);
void add_log_mel_op(OpRegistry* registry);
void add_dct_ops(OpRegistry* registry);
void add_resample_ops(OpRegistry* registry);
void add_decibel_ops(OpRegistry* registry);
void add_time_stretch_op(OpRegistry* registry);

}  // namespace penstock
