package catalog

// standardColumns are the columns of the views of the information schema up to Q.
const standardColumns = `
_pg_foreign_data_wrappers 13507 v
	oid oid, fdwowner oid, fdwoptions text[]~, foreign_data_wrapper_catalog sql_identifier,
	foreign_data_wrapper_name sql_identifier, authorization_identifier sql_identifier,
	foreign_data_wrapper_language character_data
_pg_foreign_servers 13519 v
	oid oid, srvoptions text[]~, foreign_server_catalog sql_identifier, foreign_server_name sql_identifier,
	foreign_data_wrapper_catalog sql_identifier, foreign_data_wrapper_name sql_identifier,
	foreign_server_type character_data, foreign_server_version character_data,
	authorization_identifier sql_identifier
_pg_foreign_table_columns 13498 v
	nspname name, relname name, attname name, attfdwoptions text[]~
_pg_foreign_tables 13532 v
	foreign_table_catalog sql_identifier, foreign_table_schema sql_identifier, foreign_table_name sql_identifier,
	ftoptions text[]~, foreign_server_catalog sql_identifier, foreign_server_name sql_identifier,
	authorization_identifier sql_identifier
_pg_user_mappings 13545 v
	oid oid, umoptions text[]~, umuser oid, authorization_identifier sql_identifier,
	foreign_server_catalog sql_identifier, foreign_server_name sql_identifier, srvowner sql_identifier
administrable_role_authorizations 13241 v
	grantee sql_identifier, role_name sql_identifier, is_grantable yes_or_no
applicable_roles 13236 v
	grantee sql_identifier, role_name sql_identifier, is_grantable yes_or_no
attributes 13245 v
	udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier, attribute_name sql_identifier,
	ordinal_position cardinal_number, attribute_default character_data, is_nullable yes_or_no,
	data_type character_data, character_maximum_length cardinal_number, character_octet_length cardinal_number,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	numeric_precision cardinal_number, numeric_precision_radix cardinal_number, numeric_scale cardinal_number,
	datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number,
	attribute_udt_catalog sql_identifier, attribute_udt_schema sql_identifier, attribute_udt_name sql_identifier,
	scope_catalog sql_identifier, scope_schema sql_identifier, scope_name sql_identifier,
	maximum_cardinality cardinal_number, dtd_identifier sql_identifier, is_derived_reference_attribute yes_or_no
character_sets 13250 v
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	character_repertoire sql_identifier, form_of_use sql_identifier, default_collate_catalog sql_identifier,
	default_collate_schema sql_identifier, default_collate_name sql_identifier
check_constraint_routine_usage 13255 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier
check_constraints 13260 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	check_clause character_data
collation_character_set_applicability 13270 v
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier
collations 13265 v
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	pad_attribute character_data
column_column_usage 13275 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	column_name sql_identifier, dependent_column sql_identifier
column_domain_usage 13280 v
	domain_catalog sql_identifier, domain_schema sql_identifier, domain_name sql_identifier,
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier, column_name sql_identifier
column_options 13503 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	column_name sql_identifier, option_name sql_identifier, option_value character_data
column_privileges 13285 v
	grantor sql_identifier, grantee sql_identifier, table_catalog sql_identifier, table_schema sql_identifier,
	table_name sql_identifier, column_name sql_identifier, privilege_type character_data, is_grantable yes_or_no
column_udt_usage 13290 v
	udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier, table_catalog sql_identifier,
	table_schema sql_identifier, table_name sql_identifier, column_name sql_identifier
columns 13295 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	column_name sql_identifier, ordinal_position cardinal_number, column_default character_data,
	is_nullable yes_or_no, data_type character_data, character_maximum_length cardinal_number,
	character_octet_length cardinal_number, numeric_precision cardinal_number,
	numeric_precision_radix cardinal_number, numeric_scale cardinal_number, datetime_precision cardinal_number,
	interval_type character_data, interval_precision cardinal_number, character_set_catalog sql_identifier,
	character_set_schema sql_identifier, character_set_name sql_identifier, collation_catalog sql_identifier,
	collation_schema sql_identifier, collation_name sql_identifier, domain_catalog sql_identifier,
	domain_schema sql_identifier, domain_name sql_identifier, udt_catalog sql_identifier, udt_schema sql_identifier,
	udt_name sql_identifier, scope_catalog sql_identifier, scope_schema sql_identifier, scope_name sql_identifier,
	maximum_cardinality cardinal_number, dtd_identifier sql_identifier, is_self_referencing yes_or_no,
	is_identity yes_or_no, identity_generation character_data, identity_start character_data,
	identity_increment character_data, identity_maximum character_data, identity_minimum character_data,
	identity_cycle yes_or_no, is_generated character_data, generation_expression character_data,
	is_updatable yes_or_no
constraint_column_usage 13300 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	column_name sql_identifier, constraint_catalog sql_identifier, constraint_schema sql_identifier,
	constraint_name sql_identifier
constraint_table_usage 13305 v
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier
data_type_privileges 13488 v
	object_catalog sql_identifier, object_schema sql_identifier, object_name sql_identifier,
	object_type character_data, dtd_identifier sql_identifier
domain_constraints 13310 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	domain_catalog sql_identifier, domain_schema sql_identifier, domain_name sql_identifier,
	is_deferrable yes_or_no, initially_deferred yes_or_no
domain_udt_usage 13315 v
	udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier, domain_catalog sql_identifier,
	domain_schema sql_identifier, domain_name sql_identifier
domains 13320 v
	domain_catalog sql_identifier, domain_schema sql_identifier, domain_name sql_identifier,
	data_type character_data, character_maximum_length cardinal_number, character_octet_length cardinal_number,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	numeric_precision cardinal_number, numeric_precision_radix cardinal_number, numeric_scale cardinal_number,
	datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number,
	domain_default character_data, udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier,
	scope_catalog sql_identifier, scope_schema sql_identifier, scope_name sql_identifier,
	maximum_cardinality cardinal_number, dtd_identifier sql_identifier
element_types 13493 v
	object_catalog sql_identifier, object_schema sql_identifier, object_name sql_identifier,
	object_type character_data, collection_type_identifier sql_identifier, data_type character_data,
	character_maximum_length cardinal_number, character_octet_length cardinal_number,
	character_set_catalog sql_identifier, character_set_schema sql_identifier, character_set_name sql_identifier,
	collation_catalog sql_identifier, collation_schema sql_identifier, collation_name sql_identifier,
	numeric_precision cardinal_number, numeric_precision_radix cardinal_number, numeric_scale cardinal_number,
	datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number,
	domain_default character_data, udt_catalog sql_identifier, udt_schema sql_identifier, udt_name sql_identifier,
	scope_catalog sql_identifier, scope_schema sql_identifier, scope_name sql_identifier,
	maximum_cardinality cardinal_number, dtd_identifier sql_identifier
enabled_roles 13325 v
	role_name sql_identifier
foreign_data_wrapper_options 13511 v
	foreign_data_wrapper_catalog sql_identifier, foreign_data_wrapper_name sql_identifier,
	option_name sql_identifier, option_value character_data
foreign_data_wrappers 13515 v
	foreign_data_wrapper_catalog sql_identifier, foreign_data_wrapper_name sql_identifier,
	authorization_identifier sql_identifier, library_name character_data,
	foreign_data_wrapper_language character_data
foreign_server_options 13524 v
	foreign_server_catalog sql_identifier, foreign_server_name sql_identifier, option_name sql_identifier,
	option_value character_data
foreign_servers 13528 v
	foreign_server_catalog sql_identifier, foreign_server_name sql_identifier,
	foreign_data_wrapper_catalog sql_identifier, foreign_data_wrapper_name sql_identifier,
	foreign_server_type character_data, foreign_server_version character_data,
	authorization_identifier sql_identifier
foreign_table_options 13537 v
	foreign_table_catalog sql_identifier, foreign_table_schema sql_identifier, foreign_table_name sql_identifier,
	option_name sql_identifier, option_value character_data
foreign_tables 13541 v
	foreign_table_catalog sql_identifier, foreign_table_schema sql_identifier, foreign_table_name sql_identifier,
	foreign_server_catalog sql_identifier, foreign_server_name sql_identifier
information_schema_catalog_name 13227 v
	catalog_name sql_identifier
key_column_usage 13329 v
	constraint_catalog sql_identifier, constraint_schema sql_identifier, constraint_name sql_identifier,
	table_catalog sql_identifier, table_schema sql_identifier, table_name sql_identifier,
	column_name sql_identifier, ordinal_position cardinal_number, position_in_unique_constraint cardinal_number
parameters 13334 v
	specific_catalog sql_identifier, specific_schema sql_identifier, specific_name sql_identifier,
	ordinal_position cardinal_number, parameter_mode character_data, is_result yes_or_no, as_locator yes_or_no,
	parameter_name sql_identifier, data_type character_data, character_maximum_length cardinal_number,
	character_octet_length cardinal_number, character_set_catalog sql_identifier,
	character_set_schema sql_identifier, character_set_name sql_identifier, collation_catalog sql_identifier,
	collation_schema sql_identifier, collation_name sql_identifier, numeric_precision cardinal_number,
	numeric_precision_radix cardinal_number, numeric_scale cardinal_number, datetime_precision cardinal_number,
	interval_type character_data, interval_precision cardinal_number, udt_catalog sql_identifier,
	udt_schema sql_identifier, udt_name sql_identifier, scope_catalog sql_identifier, scope_schema sql_identifier,
	scope_name sql_identifier, maximum_cardinality cardinal_number, dtd_identifier sql_identifier,
	parameter_default character_data
`
