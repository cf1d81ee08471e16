package catalog

// coreColumns are the columns of the relations about tables, types and functions.
const coreColumns = `
pg_aggregate 2600 r
	aggfnoid regproc!, aggkind "char"!, aggnumdirectargs smallint!, aggtransfn regproc!, aggfinalfn regproc!,
	aggcombinefn regproc!, aggserialfn regproc!, aggdeserialfn regproc!, aggmtransfn regproc!,
	aggminvtransfn regproc!, aggmfinalfn regproc!, aggfinalextra boolean!, aggmfinalextra boolean!,
	aggfinalmodify "char"!, aggmfinalmodify "char"!, aggsortop oid!, aggtranstype oid!, aggtransspace integer!,
	aggmtranstype oid!, aggmtransspace integer!, agginitval text, aggminitval text
pg_am 2601 r
	oid oid!, amname name!, amhandler regproc!, amtype "char"!
pg_amop 2602 r
	oid oid!, amopfamily oid!, amoplefttype oid!, amoprighttype oid!, amopstrategy smallint!, amoppurpose "char"!,
	amopopr oid!, amopmethod oid!, amopsortfamily oid!
pg_amproc 2603 r
	oid oid!, amprocfamily oid!, amproclefttype oid!, amprocrighttype oid!, amprocnum smallint!, amproc regproc!
pg_attrdef 2604 r
	oid oid!, adrelid oid!, adnum smallint!, adbin pg_node_tree!
pg_attribute 1249 r
	attrelid oid!, attname name!, atttypid oid!, attstattarget integer!, attlen smallint!, attnum smallint!,
	attndims integer!, attcacheoff integer!, atttypmod integer!, attbyval boolean!, attalign "char"!,
	attstorage "char"!, attcompression "char"!, attnotnull boolean!, atthasdef boolean!, atthasmissing boolean!,
	attidentity "char"!, attgenerated "char"!, attisdropped boolean!, attislocal boolean!, attinhcount integer!,
	attcollation oid!, attacl aclitem[], attoptions text[], attfdwoptions text[], attmissingval anyarray
pg_cast 2605 r
	oid oid!, castsource oid!, casttarget oid!, castfunc oid!, castcontext "char"!, castmethod "char"!
pg_class 1259 r
	oid oid!, relname name!, relnamespace oid!, reltype oid!, reloftype oid!, relowner oid!, relam oid!,
	relfilenode oid!, reltablespace oid!, relpages integer!, reltuples real!, relallvisible integer!,
	reltoastrelid oid!, relhasindex boolean!, relisshared boolean!, relpersistence "char"!, relkind "char"!,
	relnatts smallint!, relchecks smallint!, relhasrules boolean!, relhastriggers boolean!, relhassubclass boolean!,
	relrowsecurity boolean!, relforcerowsecurity boolean!, relispopulated boolean!, relreplident "char"!,
	relispartition boolean!, relrewrite oid!, relfrozenxid xid!, relminmxid xid!, relacl aclitem[],
	reloptions text[], relpartbound pg_node_tree
pg_collation 3456 r
	oid oid!, collname name!, collnamespace oid!, collowner oid!, collprovider "char"!,
	collisdeterministic boolean!, collencoding integer!, collcollate text, collctype text, colliculocale text,
	collversion text
pg_constraint 2606 r
	oid oid!, conname name!, connamespace oid!, contype "char"!, condeferrable boolean!, condeferred boolean!,
	convalidated boolean!, conrelid oid!, contypid oid!, conindid oid!, conparentid oid!, confrelid oid!,
	confupdtype "char"!, confdeltype "char"!, confmatchtype "char"!, conislocal boolean!, coninhcount integer!,
	connoinherit boolean!, conkey smallint[], confkey smallint[], conpfeqop oid[], conppeqop oid[], conffeqop oid[],
	confdelsetcols smallint[], conexclop oid[], conbin pg_node_tree
pg_conversion 2607 r
	oid oid!, conname name!, connamespace oid!, conowner oid!, conforencoding integer!, contoencoding integer!,
	conproc regproc!, condefault boolean!
pg_default_acl 826 r
	oid oid!, defaclrole oid!, defaclnamespace oid!, defaclobjtype "char"!, defaclacl aclitem[]!
pg_depend 2608 r
	classid oid!, objid oid!, objsubid integer!, refclassid oid!, refobjid oid!, refobjsubid integer!,
	deptype "char"!
pg_description 2609 r
	objoid oid!, classoid oid!, objsubid integer!, description text!
pg_enum 3501 r
	oid oid!, enumtypid oid!, enumsortorder real!, enumlabel name!
pg_extension 3079 r
	oid oid!, extname name!, extowner oid!, extnamespace oid!, extrelocatable boolean!, extversion text!,
	extconfig oid[], extcondition text[]
pg_index 2610 r
	indexrelid oid!, indrelid oid!, indnatts smallint!, indnkeyatts smallint!, indisunique boolean!,
	indnullsnotdistinct boolean!, indisprimary boolean!, indisexclusion boolean!, indimmediate boolean!,
	indisclustered boolean!, indisvalid boolean!, indcheckxmin boolean!, indisready boolean!, indislive boolean!,
	indisreplident boolean!, indkey int2vector!, indcollation oidvector!, indclass oidvector!,
	indoption int2vector!, indexprs pg_node_tree, indpred pg_node_tree
pg_inherits 2611 r
	inhrelid oid!, inhparent oid!, inhseqno integer!, inhdetachpending boolean!
pg_init_privs 3394 r
	objoid oid!, classoid oid!, objsubid integer!, privtype "char"!, initprivs aclitem[]!
pg_language 2612 r
	oid oid!, lanname name!, lanowner oid!, lanispl boolean!, lanpltrusted boolean!, lanplcallfoid oid!,
	laninline oid!, lanvalidator oid!, lanacl aclitem[]
pg_namespace 2615 r
	oid oid!, nspname name!, nspowner oid!, nspacl aclitem[]
pg_opclass 2616 r
	oid oid!, opcmethod oid!, opcname name!, opcnamespace oid!, opcowner oid!, opcfamily oid!, opcintype oid!,
	opcdefault boolean!, opckeytype oid!
pg_operator 2617 r
	oid oid!, oprname name!, oprnamespace oid!, oprowner oid!, oprkind "char"!, oprcanmerge boolean!,
	oprcanhash boolean!, oprleft oid!, oprright oid!, oprresult oid!, oprcom oid!, oprnegate oid!, oprcode regproc!,
	oprrest regproc!, oprjoin regproc!
pg_opfamily 2753 r
	oid oid!, opfmethod oid!, opfname name!, opfnamespace oid!, opfowner oid!
pg_partitioned_table 3350 r
	partrelid oid!, partstrat "char"!, partnatts smallint!, partdefid oid!, partattrs int2vector!,
	partclass oidvector!, partcollation oidvector!, partexprs pg_node_tree
pg_policy 3256 r
	oid oid!, polname name!, polrelid oid!, polcmd "char"!, polpermissive boolean!, polroles oid[]!,
	polqual pg_node_tree, polwithcheck pg_node_tree
pg_proc 1255 r
	oid oid!, proname name!, pronamespace oid!, proowner oid!, prolang oid!, procost real!, prorows real!,
	provariadic oid!, prosupport regproc!, prokind "char"!, prosecdef boolean!, proleakproof boolean!,
	proisstrict boolean!, proretset boolean!, provolatile "char"!, proparallel "char"!, pronargs smallint!,
	pronargdefaults smallint!, prorettype oid!, proargtypes oidvector!, proallargtypes oid[], proargmodes "char"[],
	proargnames text[], proargdefaults pg_node_tree, protrftypes oid[], prosrc text!, probin text,
	prosqlbody pg_node_tree, proconfig text[], proacl aclitem[]
pg_range 3541 r
	rngtypid oid!, rngsubtype oid!, rngmultitypid oid!, rngcollation oid!, rngsubopc oid!, rngcanonical regproc!,
	rngsubdiff regproc!
pg_rewrite 2618 r
	oid oid!, rulename name!, ev_class oid!, ev_type "char"!, ev_enabled "char"!, is_instead boolean!,
	ev_qual pg_node_tree!, ev_action pg_node_tree!
pg_sequence 2224 r
	seqrelid oid!, seqtypid oid!, seqstart bigint!, seqincrement bigint!, seqmax bigint!, seqmin bigint!,
	seqcache bigint!, seqcycle boolean!
pg_transform 3576 r
	oid oid!, trftype oid!, trflang oid!, trffromsql regproc!, trftosql regproc!
pg_trigger 2620 r
	oid oid!, tgrelid oid!, tgparentid oid!, tgname name!, tgfoid oid!, tgtype smallint!, tgenabled "char"!,
	tgisinternal boolean!, tgconstrrelid oid!, tgconstrindid oid!, tgconstraint oid!, tgdeferrable boolean!,
	tginitdeferred boolean!, tgnargs smallint!, tgattr int2vector!, tgargs bytea!, tgqual pg_node_tree,
	tgoldtable name, tgnewtable name
pg_type 1247 r
	oid oid!, typname name!, typnamespace oid!, typowner oid!, typlen smallint!, typbyval boolean!, typtype "char"!,
	typcategory "char"!, typispreferred boolean!, typisdefined boolean!, typdelim "char"!, typrelid oid!,
	typsubscript regproc!, typelem oid!, typarray oid!, typinput regproc!, typoutput regproc!, typreceive regproc!,
	typsend regproc!, typmodin regproc!, typmodout regproc!, typanalyze regproc!, typalign "char"!,
	typstorage "char"!, typnotnull boolean!, typbasetype oid!, typtypmod integer!, typndims integer!,
	typcollation oid!, typdefaultbin pg_node_tree, typdefault text, typacl aclitem[]
`
