package catalog

// countColumns are the columns of the statistics views.
const countColumns = `
pg_stat_activity 12222 v
	datid oid, datname name, pid integer, leader_pid integer, usesysid oid, usename name, application_name text,
	client_addr inet, client_hostname text, client_port integer, backend_start timestamptz, xact_start timestamptz,
	query_start timestamptz, state_change timestamptz, wait_event_type text, wait_event text, state text,
	backend_xid xid, backend_xmin xid, query_id bigint, query text, backend_type text
pg_stat_all_indexes 12183 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan bigint,
	idx_tup_read bigint, idx_tup_fetch bigint
pg_stat_all_tables 12142 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint,
	n_live_tup bigint, n_dead_tup bigint, n_mod_since_analyze bigint, n_ins_since_vacuum bigint,
	last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz,
	vacuum_count bigint, autovacuum_count bigint, analyze_count bigint, autoanalyze_count bigint
pg_stat_archiver 12285 v
	archived_count bigint, last_archived_wal text, last_archived_time timestamptz, failed_count bigint,
	last_failed_wal text, last_failed_time timestamptz, stats_reset timestamptz
pg_stat_bgwriter 12289 v
	checkpoints_timed bigint, checkpoints_req bigint, checkpoint_write_time double precision,
	checkpoint_sync_time double precision, buffers_checkpoint bigint, buffers_clean bigint, maxwritten_clean bigint,
	buffers_backend bigint, buffers_backend_fsync bigint, buffers_alloc bigint, stats_reset timestamptz
pg_stat_database 12266 v
	datid oid, datname name, numbackends integer, xact_commit bigint, xact_rollback bigint, blks_read bigint,
	blks_hit bigint, tup_returned bigint, tup_fetched bigint, tup_inserted bigint, tup_updated bigint,
	tup_deleted bigint, conflicts bigint, temp_files bigint, temp_bytes bigint, deadlocks bigint,
	checksum_failures bigint, checksum_last_failure timestamptz, blk_read_time double precision,
	blk_write_time double precision, session_time double precision, active_time double precision,
	idle_in_transaction_time double precision, sessions bigint, sessions_abandoned bigint, sessions_fatal bigint,
	sessions_killed bigint, stats_reset timestamptz
pg_stat_database_conflicts 12271 v
	datid oid, datname name, confl_tablespace bigint, confl_lock bigint, confl_snapshot bigint,
	confl_bufferpin bigint, confl_deadlock bigint
pg_stat_gssapi 12253 v
	pid integer, gss_authenticated boolean, principal text, encrypted boolean
pg_stat_progress_analyze 12297 v
	pid integer, datid oid, datname name, relid oid, phase text, sample_blks_total bigint,
	sample_blks_scanned bigint, ext_stats_total bigint, ext_stats_computed bigint, child_tables_total bigint,
	child_tables_done bigint, current_child_table_relid oid
pg_stat_progress_basebackup 12317 v
	pid integer, phase text, backup_total bigint, backup_streamed bigint, tablespaces_total bigint,
	tablespaces_streamed bigint
pg_stat_progress_cluster 12307 v
	pid integer, datid oid, datname name, relid oid, command text, phase text, cluster_index_relid oid,
	heap_tuples_scanned bigint, heap_tuples_written bigint, heap_blks_total bigint, heap_blks_scanned bigint,
	index_rebuild_count bigint
pg_stat_progress_copy 12322 v
	pid integer, datid oid, datname name, relid oid, command text, type text, bytes_processed bigint,
	bytes_total bigint, tuples_processed bigint, tuples_excluded bigint
pg_stat_progress_create_index 12312 v
	pid integer, datid oid, datname name, relid oid, index_relid oid, command text, phase text,
	lockers_total bigint, lockers_done bigint, current_locker_pid bigint, blocks_total bigint, blocks_done bigint,
	tuples_total bigint, tuples_done bigint, partitions_total bigint, partitions_done bigint
pg_stat_progress_vacuum 12302 v
	pid integer, datid oid, datname name, relid oid, phase text, heap_blks_total bigint, heap_blks_scanned bigint,
	heap_blks_vacuumed bigint, index_vacuum_count bigint, max_dead_tuples bigint, num_dead_tuples bigint
pg_stat_recovery_prefetch 12240 v
	stats_reset timestamptz, prefetch bigint, hit bigint, skip_init bigint, skip_new bigint, skip_fpw bigint,
	skip_rep bigint, wal_distance integer, block_distance integer, io_depth integer
pg_stat_replication 12227 v
	pid integer, usesysid oid, usename name, application_name text, client_addr inet, client_hostname text,
	client_port integer, backend_start timestamptz, backend_xmin xid, state text, sent_lsn pg_lsn, write_lsn pg_lsn,
	flush_lsn pg_lsn, replay_lsn pg_lsn, write_lag interval, flush_lag interval, replay_lag interval,
	sync_priority integer, sync_state text, reply_time timestamptz
pg_stat_replication_slots 12262 v
	slot_name text, spill_txns bigint, spill_count bigint, spill_bytes bigint, stream_txns bigint,
	stream_count bigint, stream_bytes bigint, total_txns bigint, total_bytes bigint, stats_reset timestamptz
pg_stat_slru 12232 v
	name text, blks_zeroed bigint, blks_hit bigint, blks_read bigint, blks_written bigint, blks_exists bigint,
	flushes bigint, truncates bigint, stats_reset timestamptz
pg_stat_ssl 12249 v
	pid integer, ssl boolean, version text, cipher text, bits integer, client_dn text, client_serial numeric,
	issuer_dn text
pg_stat_subscription 12244 v
	subid oid, subname name, pid integer, relid oid, received_lsn pg_lsn, last_msg_send_time timestamptz,
	last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz
pg_stat_subscription_stats 12336 v
	subid oid, subname name, apply_error_count bigint, sync_error_count bigint, stats_reset timestamptz
pg_stat_sys_indexes 12188 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan bigint,
	idx_tup_read bigint, idx_tup_fetch bigint
pg_stat_sys_tables 12152 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint,
	n_live_tup bigint, n_dead_tup bigint, n_mod_since_analyze bigint, n_ins_since_vacuum bigint,
	last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz,
	vacuum_count bigint, autovacuum_count bigint, analyze_count bigint, autoanalyze_count bigint
pg_stat_user_functions 12275 v
	funcid oid, schemaname name, funcname name, calls bigint, total_time double precision,
	self_time double precision
pg_stat_user_indexes 12192 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan bigint,
	idx_tup_read bigint, idx_tup_fetch bigint
pg_stat_user_tables 12161 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint,
	n_live_tup bigint, n_dead_tup bigint, n_mod_since_analyze bigint, n_ins_since_vacuum bigint,
	last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz,
	vacuum_count bigint, autovacuum_count bigint, analyze_count bigint, autoanalyze_count bigint
pg_stat_wal 12293 v
	wal_records bigint, wal_fpi bigint, wal_bytes numeric, wal_buffers_full bigint, wal_write bigint,
	wal_sync bigint, wal_write_time double precision, wal_sync_time double precision, stats_reset timestamptz
pg_stat_wal_receiver 12236 v
	pid integer, status text, receive_start_lsn pg_lsn, receive_start_tli integer, written_lsn pg_lsn,
	flushed_lsn pg_lsn, received_tli integer, last_msg_send_time timestamptz, last_msg_receipt_time timestamptz,
	latest_end_lsn pg_lsn, latest_end_time timestamptz, slot_name text, sender_host text, sender_port integer,
	conninfo text
pg_stat_xact_all_tables 12147 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint
pg_stat_xact_sys_tables 12157 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint
pg_stat_xact_user_functions 12280 v
	funcid oid, schemaname name, funcname name, calls bigint, total_time double precision,
	self_time double precision
pg_stat_xact_user_tables 12166 v
	relid oid, schemaname name, relname name, seq_scan bigint, seq_tup_read bigint, idx_scan bigint,
	idx_tup_fetch bigint, n_tup_ins bigint, n_tup_upd bigint, n_tup_del bigint, n_tup_hot_upd bigint
pg_statio_all_indexes 12196 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read bigint,
	idx_blks_hit bigint
pg_statio_all_sequences 12209 v
	relid oid, schemaname name, relname name, blks_read bigint, blks_hit bigint
pg_statio_all_tables 12170 v
	relid oid, schemaname name, relname name, heap_blks_read bigint, heap_blks_hit bigint, idx_blks_read bigint,
	idx_blks_hit bigint, toast_blks_read bigint, toast_blks_hit bigint, tidx_blks_read bigint, tidx_blks_hit bigint
pg_statio_sys_indexes 12201 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read bigint,
	idx_blks_hit bigint
pg_statio_sys_sequences 12214 v
	relid oid, schemaname name, relname name, blks_read bigint, blks_hit bigint
pg_statio_sys_tables 12175 v
	relid oid, schemaname name, relname name, heap_blks_read bigint, heap_blks_hit bigint, idx_blks_read bigint,
	idx_blks_hit bigint, toast_blks_read bigint, toast_blks_hit bigint, tidx_blks_read bigint, tidx_blks_hit bigint
pg_statio_user_indexes 12205 v
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_blks_read bigint,
	idx_blks_hit bigint
pg_statio_user_sequences 12218 v
	relid oid, schemaname name, relname name, blks_read bigint, blks_hit bigint
pg_statio_user_tables 12179 v
	relid oid, schemaname name, relname name, heap_blks_read bigint, heap_blks_hit bigint, idx_blks_read bigint,
	idx_blks_hit bigint, toast_blks_read bigint, toast_blks_hit bigint, tidx_blks_read bigint, tidx_blks_hit bigint
`
