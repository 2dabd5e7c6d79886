#pragma once
/// \file
/// Catches the errors that common/ throws.

#include "chapter/error.hpp"

/// The error that a call throws; exit code 0 and an empty line if it throws none.
template <class F>
course::Error error_of(F call) {
  try {
    call();
  } catch (const course::Error& error) {
    return error;
  }
  return course::Error("", 0);
}
