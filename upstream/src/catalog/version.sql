-- One short text that changes whenever a transaction has committed a change to what query.sql reads.
--
-- Every change to a catalog row leaves a new row version, whose xmin is the changing transaction's
-- number: so a count and an order-free hash over (key, xmin) move with each insert, update and
-- delete. VACUUM keeps xmin (also when it freezes), so an idle database has a constant version. Only
-- rows of the users' objects are read (from oid 16384 on, by index), hence the cost grows with the
-- schema, not with the server; what temporary tables leave behind does not count,
-- else a busy reporting job would have the catalog read again every second.
-- (One hash seeds the other: hashint8 folds its halves with XOR, so that a single one over both
-- would not see two rows whose neighbouring keys trade neighbouring transactions.)
-- It may move for nothing (REINDEX); it may not stay. No side reads statistics: they lag.
WITH temporary AS MATERIALIZED (
    SELECT oid FROM pg_class WHERE relpersistence = 't'
),
temporary_spaces AS MATERIALIZED (
    SELECT oid FROM pg_namespace WHERE nspname ~ '^pg_(toast_)?temp_'
),
changes (catalog, rows, hash) AS (
    SELECT 1, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 1))) FROM pg_namespace
    WHERE oid NOT IN (SELECT oid FROM temporary_spaces)
    UNION ALL
    SELECT 2, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 2))) FROM pg_class
    WHERE oid >= 16384 AND relpersistence <> 't'
    UNION ALL
    SELECT 3, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(attrelid, attnum))) FROM pg_attribute
    WHERE attrelid >= 16384 AND attrelid NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 4, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 4))) FROM pg_type
    WHERE oid >= 16384 AND typnamespace NOT IN (SELECT oid FROM temporary_spaces)
    UNION ALL
    SELECT 5, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 5))) FROM pg_proc WHERE oid >= 16384
    UNION ALL
    SELECT 6, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 6))) FROM pg_operator WHERE oid >= 16384
    UNION ALL
    SELECT 7, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 7))) FROM pg_cast WHERE oid >= 16384
    UNION ALL
    SELECT 8, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 8))) FROM pg_constraint
    WHERE oid >= 16384 AND connamespace NOT IN (SELECT oid FROM temporary_spaces)
    UNION ALL
    SELECT 9, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(indexrelid, 9))) FROM pg_index
    WHERE indexrelid >= 16384 AND indrelid NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 10, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(inhrelid, inhseqno))) FROM pg_inherits
    WHERE inhrelid NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 11, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 11))) FROM pg_attrdef
    WHERE adrelid NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 12, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 12))) FROM pg_rewrite
    WHERE oid >= 16384 AND ev_class NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 13, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 13))) FROM pg_trigger
    WHERE tgrelid NOT IN (SELECT oid FROM temporary)
    UNION ALL
    SELECT 14, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 14))) FROM pg_collation WHERE oid >= 16384
    UNION ALL
    SELECT 15, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(oid, 15))) FROM pg_extension
    UNION ALL
    SELECT 16, count(*), bit_xor(hashint8extended(xmin::text::int8, hashoidextended(seqrelid, 16))) FROM pg_sequence
    WHERE seqrelid NOT IN (SELECT oid FROM temporary)
)
SELECT md5(string_agg(concat_ws(':', catalog, rows, hash), ' ' ORDER BY catalog)) FROM changes
