//! Tests through the doors that users use: the binary, real drivers, a real PostgreSQL.
