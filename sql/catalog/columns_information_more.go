package catalog

// standardColumnsMore are the columns of the views of the information schema from R.
const standardColumnsMore = `
referential_constraints 13339 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	unique_constraint_catalog sql_identifier, unique_constraint_schema sql_identifier,
	unique_constraint_name sql_identifier, match_option character_data, update_rule character_data,
	delete_rule character_data
role_column_grants 13344 v
	grantor sql_identifier, grantee sql_identifier, table_catalog sql_identifier, table_schema sql_identifier,
	table_name sql_identifier, column_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
role_routine_grants 13358 v
	grantor sql_identifier, grantee sql_identifier, specific_catalog sql_identifier, specific_schema sql_identifier,
	specific_name sql_identifier, routine_catalog sql_identifier, routine_schema sql_identifier,
	routine_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
role_table_grants 13421 v
	grantor sql_identifier, grantee sql_identifier, table_catalog sql_identifier, table_schema sql_identifier,
	table_name sql_identifier, privilege_type character_data, is_grantable yes_or_no, with_hierarchy yes_or_no
role_udt_grants 13450 v
	grantor sql_identifier, grantee sql_identifier, udt_catalog sql_identifier, udt_schema sql_identifier,
	udt_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
role_usage_grants 13459 v
	grantor sql_identifier, grantee sql_identifier, object_catalog sql_identifier, object_schema sql_identifier,
	object_name sql_identifier, object_type character_data, privilege_type character_data, is_grantable yes_or_no
routine_column_usage 13348 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	routine_catalog sql_identifier, routine_schema sql_identifier, routine_name sql_identifier,
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier, column_name sql_identifier
routine_privileges 13353 v
	grantor sql_identifier, grantee sql_identifier, specific_catalog sql_identifier, specific_schema sql_identifier,
	specific_name sql_identifier, routine_catalog sql_identifier, routine_schema sql_identifier,
	routine_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
routine_routine_usage 13362 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	routine_catalog sql_identifier, routine_schema sql_identifier, routine_name sql_identifier
routine_sequence_usage 13367 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	routine_catalog sql_identifier, routine_schema sql_identifier, routine_name sql_identifier,
	sequence_catalog sql_identifier, sequence_schema sql_identifier, sequence_name sql_identifier
routine_table_usage 13372 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	routine_catalog sql_identifier, routine_schema sql_identifier, routine_name sql_identifier,
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier
routines 13377 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	routine_catalog sql_identifier, routine_schema sql_identifier, routine_name sql_identifier,
	routine_type character_data, module_catalog sql_identifier, module_schema sql_identifier,
	module_name sql_identifier, udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier,
	data_type character_data, character_maximum_length cardinal_number, character_octet_length cardinal_number,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	numeric_precision cardinal_number, numeric_precision_radix cardinal_number, numeric_scale cardinal_number,
	datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number,
	type_udt_catalog sql_identifier, type_udt_schema sql_identifier, type_udt_name sql_identifier,
	scope_catalog sql_identifier, scope_schema sql_identifier, scope_name sql_identifier,
	maximum_cardinality cardinal_number, dtd_identifier sql_identifier, routine_body character_data,
	routine_definition character_data, external_name character_data, external_language character_data,
	parameter_style character_data, is_deterministic yes_or_no, sql_data_access character_data,
	is_null_call yes_or_no, sql_path character_data, schema_level_routine yes_or_no,
	max_dynamic_result_sets cardinal_number, is_user_defined_cast yes_or_no, is_implicitly_invocable yes_or_no,
	security_type character_data, to_sql_specific_catalog sql_identifier, to_sql_specific_schema sql_identifier,
	to_sql_specific_name sql_identifier, as_locator yes_or_no, created time_stamp, last_altered time_stamp,
	new_savepoint_level yes_or_no, is_udt_dependent yes_or_no, result_cast_from_data_type character_data,
	result_cast_as_locator yes_or_no, result_cast_char_max_length cardinal_number,
	result_cast_char_octet_length cardinal_number, result_cast_char_set_catalog sql_identifier,
	result_cast_char_set_schema sql_identifier, result_cast_char_set_name sql_identifier,
	result_cast_collation_catalog sql_identifier, result_cast_collation_schema sql_identifier,
	result_cast_collation_name sql_identifier, result_cast_numeric_precision cardinal_number,
	result_cast_numeric_precision_radix cardinal_number, result_cast_numeric_scale cardinal_number,
	result_cast_datetime_precision cardinal_number, result_cast_interval_type character_data,
	result_cast_interval_precision cardinal_number, result_cast_type_udt_catalog sql_identifier,
	result_cast_type_udt_schema sql_identifier, result_cast_type_udt_name sql_identifier,
	result_cast_scope_catalog sql_identifier, result_cast_scope_schema sql_identifier,
	result_cast_scope_name sql_identifier, result_cast_maximum_cardinality cardinal_number,
	result_cast_dtd_identifier sql_identifier
schemata 13382 v
	catalog_name sql_identifier, schema_name sql_identifier, schema_owner sql_identifier,
	default_character_set_catalog sql_identifier, default_character_set_schema sql_identifier,
	default_character_set_name sql_identifier, sql_path character_data
sequences 13386 v
	sequence_catalog sql_identifier, sequence_schema sql_identifier, sequence_name sql_identifier,
	data_type character_data, numeric_precision cardinal_number, numeric_precision_radix cardinal_number,
	numeric_scale cardinal_number, start_value character_data, minimum_value character_data,
	maximum_value character_data, increment character_data, cycle_option yes_or_no
sql_features 13391 r
	feature_id character_data, feature_name character_data, sub_feature_id character_data,
	sub_feature_name character_data, is_supported yes_or_no, is_verified_by character_data, comments character_data
sql_implementation_info 13396 r
	implementation_info_id character_data, implementation_info_name character_data, integer_value cardinal_number,
	character_value character_data, comments character_data
sql_parts 13401 r
	feature_id character_data, feature_name character_data, is_supported yes_or_no, is_verified_by character_data,
	comments character_data
sql_sizing 13406 r
	sizing_id cardinal_number, sizing_name character_data, supported_value cardinal_number, comments character_data
table_constraints 13411 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	constraint_type character_data, is_deferrable yes_or_no, initially_deferred yes_or_no, enforced yes_or_no,
	nulls_distinct yes_or_no
table_privileges 13416 v
	grantor sql_identifier, grantee sql_identifier, table_catalog sql_identifier, table_schema sql_identifier,
	table_name sql_identifier, privilege_type character_data, is_grantable yes_or_no, with_hierarchy yes_or_no
tables 13425 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier, table_type character_data,
	self_referencing_column_name sql_identifier, reference_generation character_data,
	user_defined_type_catalog sql_identifier, user_defined_type_schema sql_identifier,
	user_defined_type_name sql_identifier, is_insertable_into yes_or_no, is_typed yes_or_no,
	commit_action character_data
transforms 13430 v
	udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier, specific_catalog sql_identifier,
	specific_schema sql_identifier, specific_name sql_identifier, group_name sql_identifier,
	transform_type character_data
triggered_update_columns 13435 v
	trigger_catalog sql_identifier, trigger_schema sql_identifier, trigger_name sql_identifier,
	event_object_catalog sql_identifier, event_object_schema sql_identifier, event_object_table sql_identifier,
	event_object_column sql_identifier
triggers 13440 v
	trigger_catalog sql_identifier, trigger_schema sql_identifier, trigger_name sql_identifier,
	event_manipulation character_data, event_object_catalog sql_identifier, event_object_schema sql_identifier,
	event_object_table sql_identifier, action_order cardinal_number, action_condition character_data,
	action_statement character_data, action_orientation character_data, action_timing character_data,
	action_reference_old_table sql_identifier, action_reference_new_table sql_identifier,
	action_reference_old_row sql_identifier, action_reference_new_row sql_identifier, created time_stamp
udt_privileges 13445 v
	grantor sql_identifier, grantee sql_identifier, udt_catalog sql_identifier, udt_schema sql_identifier,
	udt_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
usage_privileges 13454 v
	grantor sql_identifier, grantee sql_identifier, object_catalog sql_identifier, object_schema sql_identifier,
	object_name sql_identifier, object_type character_data, privilege_type character_data, is_grantable yes_or_no
user_defined_types 13463 v
	user_defined_type_catalog sql_identifier, user_defined_type_schema sql_identifier,
	user_defined_type_name sql_identifier, user_defined_type_category character_data, is_instantiable yes_or_no,
	is_final yes_or_no, ordering_form character_data, ordering_category character_data,
	ordering_routine_catalog sql_identifier, ordering_routine_schema sql_identifier,
	ordering_routine_name sql_identifier, reference_type character_data, data_type character_data,
	character_maximum_length cardinal_number, character_octet_length cardinal_number,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	numeric_precision cardinal_number, numeric_precision_radix cardinal_number, numeric_scale cardinal_number,
	datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number,
	source_dtd_identifier sql_identifier, ref_dtd_identifier sql_identifier
user_mapping_options 13550 v
	authorization_identifier sql_identifier, foreign_server_catalog sql_identifier,
	foreign_server_name sql_identifier, option_name sql_identifier, option_value character_data
user_mappings 13555 v
	authorization_identifier sql_identifier, foreign_server_catalog sql_identifier,
	foreign_server_name sql_identifier
view_column_usage 13468 v
	view_catalog sql_identifier, view_schema sql_identifier, view_name sql_identifier, table_catalog sql_identifier,
	table_schema sql_identifier, table_name sql_identifier, column_name sql_identifier
view_routine_usage 13473 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier
view_table_usage 13478 v
	view_catalog sql_identifier, view_schema sql_identifier, view_name sql_identifier, table_catalog sql_identifier,
	table_schema sql_identifier, table_name sql_identifier
views 13483 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	view_definition character_data, check_option character_data, is_updatable yes_or_no,
	is_insertable_into yes_or_no, is_trigger_updatable yes_or_no, is_trigger_deletable yes_or_no,
	is_trigger_insertable_into yes_or_no
`
