-- What the connection's role is and may do, as one JSON text. Runs as any role, on 15 to 18.
SELECT pg_catalog.json_build_object(
    'user', r.rolname,
    'superuser', r.rolsuper,
    'bypassrls', r.rolbypassrls,
    'createrole', r.rolcreaterole,
    'createdb', r.rolcreatedb,
    'replication', r.rolreplication,
    'create_schema', has_database_privilege(current_database(), 'CREATE'),
    'member_of', (SELECT coalesce(json_agg(g.rolname ORDER BY g.rolname), '[]') FROM pg_roles g
                  WHERE g.oid <> r.oid AND NOT r.rolsuper AND pg_has_role(r.oid, g.oid, 'MEMBER')),
    'create_in', (SELECT coalesce(json_agg(s.nspname ORDER BY s.nspname), '[]') FROM pg_namespace s
                  WHERE s.nspname !~ '^pg_' AND s.nspname <> 'information_schema'
                    AND has_schema_privilege(s.oid, 'CREATE')),
    'row_security_off', (SELECT coalesce(json_agg(json_build_array(s.nspname, c.relname)
                         ORDER BY s.nspname, c.relname), '[]')
        FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE c.relrowsecurity AND NOT c.relforcerowsecurity AND c.relowner = r.oid),
    -- Of others that can log in here, past the proxy.
    'logins', (SELECT coalesce(json_agg(o.rolname ORDER BY o.rolname), '[]') FROM pg_roles o
               WHERE o.rolcanlogin AND o.oid <> r.oid AND NOT o.rolsuper
                 AND has_database_privilege(o.oid, current_database(), 'CONNECT')
                 AND EXISTS (SELECT FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
                             WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND s.nspname !~ '^pg_'
                               AND s.nspname <> 'information_schema'
                               AND has_schema_privilege(o.oid, s.oid, 'USAGE')
                               AND has_table_privilege(o.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE'))),
    'relations', (SELECT coalesce(json_agg(json_build_object(
            'schema', s.nspname,
            'name', c.relname,
            'owned', pg_has_role(r.oid, c.relowner, 'MEMBER'),
            'select', has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'),
            'insert', has_table_privilege(c.oid, 'INSERT') OR has_any_column_privilege(c.oid, 'INSERT'),
            'update', has_table_privilege(c.oid, 'UPDATE') OR has_any_column_privilege(c.oid, 'UPDATE'),
            'delete', has_table_privilege(c.oid, 'DELETE'),
            'truncate', has_table_privilege(c.oid, 'TRUNCATE')) ORDER BY s.nspname, c.relname), '[]')
        FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
          AND s.nspname !~ '^pg_' AND s.nspname <> 'information_schema'
          AND has_schema_privilege(s.oid, 'USAGE'))
)::text FROM pg_roles r WHERE r.rolname = current_user
