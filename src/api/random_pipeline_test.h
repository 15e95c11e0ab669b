// Random pipelines for tests that compare one pipeline under many settings.
#pragma once

#include <random>
#include <string>

namespace penstock {

// Returns the text of a pipeline of up to nine stages over small elements: numbers, vectors, ragged
// and sparse tensors, optionals, datasets as values and elements without components; some elements
// fail, some promises of cardinality are false. Its elements can be digested. Equal states of
// `random` give equal texts.
std::string random_pipeline(std::mt19937_64& random);

}  // namespace penstock
