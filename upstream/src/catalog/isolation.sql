-- The first that is not read (un)committed: of the role's and the database's settings, which new connections obey, and
-- of this connection's own, which is the server's.
SELECT COALESCE(
    (SELECT pg_catalog.min(pg_catalog.substr(set.entry, 31))
       FROM pg_catalog.pg_db_role_setting s CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS set (entry)
      WHERE s.setdatabase IN (0, (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))
        AND s.setrole IN (0, (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = session_user))
        AND pg_catalog.lower(set.entry) LIKE 'default_transaction_isolation=%'
        AND pg_catalog.lower(set.entry) NOT LIKE '%committed'),
    pg_catalog.current_setting('default_transaction_isolation'))
