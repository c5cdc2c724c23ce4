//! Placeholder until the lab's catalog stands in golden/.
