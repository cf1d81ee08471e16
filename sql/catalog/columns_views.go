package catalog

// viewColumns are the columns of the other views.
const viewColumns = `
pg_available_extension_versions 12085 v
	name name, version text, installed boolean, superuser boolean, trusted boolean, relocatable boolean,
	schema name, requires name[], comment text
pg_available_extensions 12081 v
	name name, default_version text, installed_version text~, comment text
pg_backend_memory_contexts 12138 v
	name text, ident text, parent text, level integer, total_bytes bigint, total_nblocks bigint, free_bytes bigint,
	free_chunks bigint, used_bytes bigint
pg_config 12130 v
	name text, setting text
pg_cursors 12077 v
	name text, statement text, is_holdable boolean, is_binary boolean, is_scrollable boolean,
	creation_time timestamptz
pg_file_settings 12110 v
	sourcefile text, sourceline integer, seqno integer, name text, setting text, applied boolean, error text
pg_group 12010 v
	groname name, grosysid oid, grolist oid[]
pg_hba_file_rules 12114 v
	line_number integer, type text, database text[], user_name text[], address text, netmask text, auth_method text,
	options text[], error text
pg_ident_file_mappings 12118 v
	line_number integer, map_name text, sys_name text, pg_username text, error text
pg_indexes 12043 v
	schemaname name, tablename name, indexname name, tablespace name, indexdef text
pg_locks 12073 v
	locktype text, database oid, relation oid, page integer, tuple smallint, virtualxid text, transactionid xid,
	classid oid, objid oid, objsubid smallint, virtualtransaction text, pid integer, mode text, granted boolean,
	fastpath boolean, waitstart timestamptz
pg_matviews 12038 v
	schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes boolean, ispopulated boolean,
	definition text
pg_policies 12018 v
	schemaname name, tablename name, policyname name, permissive text, roles name[], cmd text, qual text~,
	with_check text~
pg_prepared_statements 12095 v
	name text, statement text, prepare_time timestamptz, parameter_types regtype[], from_sql boolean,
	generic_plans bigint, custom_plans bigint
pg_prepared_xacts 12090 v
	transaction xid, gid text, prepared timestamptz, owner name, database name
pg_publication_tables 12068 v
	pubname name, schemaname name, tablename name, attnames name[], rowfilter text
pg_replication_origin_status 12332 v
	local_id oid, external_id text, remote_lsn pg_lsn, local_lsn pg_lsn
pg_replication_slots 12257 v
	slot_name name, plugin name, slot_type text, datoid oid, database name, temporary boolean, active boolean,
	active_pid integer, xmin xid, catalog_xmin xid, restart_lsn pg_lsn, confirmed_flush_lsn pg_lsn, wal_status text,
	safe_wal_size bigint, two_phase boolean
pg_roles 12000 v
	rolname name, rolsuper boolean, rolinherit boolean, rolcreaterole boolean, rolcreatedb boolean,
	rolcanlogin boolean, rolreplication boolean, rolconnlimit integer, rolpassword text, rolvaliduntil timestamptz,
	rolbypassrls boolean, rolconfig text[]~, oid oid
pg_rules 12023 v
	schemaname name, tablename name, rulename name, definition text
pg_seclabels 12099 v
	objoid oid, classoid oid, objsubid integer, objtype text, objnamespace oid, objname text~, provider text~,
	label text~
pg_sequences 12048 v
	schemaname name, sequencename name, sequenceowner name, data_type regtype, start_value bigint, min_value bigint,
	max_value bigint, increment_by bigint, cycle boolean, cache_size bigint, last_value bigint
pg_settings 12104 v
	name text, setting text, unit text, category text, short_desc text, extra_desc text, context text, vartype text,
	source text, min_val text, max_val text, enumvals text[], boot_val text, reset_val text, sourcefile text,
	sourceline integer, pending_restart boolean
pg_shadow 12005 v
	usename name, usesysid oid, usecreatedb boolean, usesuper boolean, userepl boolean, usebypassrls boolean,
	passwd text~, valuntil timestamptz, useconfig text[]~
pg_shmem_allocations 12134 v
	name text, off bigint, size bigint, allocated_size bigint
pg_stats 12053 v
	schemaname name, tablename name, attname name, inherited boolean, null_frac real, avg_width integer,
	n_distinct real, most_common_vals anyarray, most_common_freqs real[], histogram_bounds anyarray,
	correlation real, most_common_elems anyarray, most_common_elem_freqs real[], elem_count_histogram real[]
pg_stats_ext 12058 v
	schemaname name, tablename name, statistics_schemaname name, statistics_name name, statistics_owner name,
	attnames name[], exprs text[], kinds "char"[], inherited boolean, n_distinct pg_ndistinct~,
	dependencies pg_dependencies~, most_common_vals text[], most_common_val_nulls boolean[],
	most_common_freqs double precision[], most_common_base_freqs double precision[]
pg_stats_ext_exprs 12063 v
	schemaname name, tablename name, statistics_schemaname name, statistics_name name, statistics_owner name,
	expr text, inherited boolean, null_frac real, avg_width integer, n_distinct real, most_common_vals anyarray,
	most_common_freqs real[], histogram_bounds anyarray, correlation real, most_common_elems anyarray,
	most_common_elem_freqs real[], elem_count_histogram real[]
pg_tables 12033 v
	schemaname name, tablename name, tableowner name, tablespace name, hasindexes boolean, hasrules boolean,
	hastriggers boolean, rowsecurity boolean
pg_timezone_abbrevs 12122 v
	abbrev text, utc_offset interval, is_dst boolean
pg_timezone_names 12126 v
	name text, abbrev text, utc_offset interval, is_dst boolean
pg_user 12014 v
	usename name, usesysid oid, usecreatedb boolean, usesuper boolean, userepl boolean, usebypassrls boolean,
	passwd text, valuntil timestamptz, useconfig text[]~
pg_user_mappings 12327 v
	umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions text[]~
pg_views 12028 v
	schemaname name, viewname name, viewowner name, definition text
`
