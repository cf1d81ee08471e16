package catalog

// serverColumns are the columns of the relations about databases, roles, replication,
// statistics, text search and large objects.
const serverColumns = `
pg_auth_members 1261 r shared
	roleid oid!, member oid!, grantor oid!, admin_option boolean!
pg_authid 1260 r shared
	oid oid!, rolname name!, rolsuper boolean!, rolinherit boolean!, rolcreaterole boolean!, rolcreatedb boolean!,
	rolcanlogin boolean!, rolreplication boolean!, rolbypassrls boolean!, rolconnlimit integer!, rolpassword text,
	rolvaliduntil timestamptz
pg_database 1262 r shared
	oid oid!, datname name!, datdba oid!, encoding integer!, datlocprovider "char"!, datistemplate boolean!,
	datallowconn boolean!, datconnlimit integer!, datfrozenxid xid!, datminmxid xid!, dattablespace oid!,
	datcollate text!, datctype text!, daticulocale text, datcollversion text, datacl aclitem[]
pg_db_role_setting 2964 r shared
	setdatabase oid!, setrole oid!, setconfig text[]
pg_event_trigger 3466 r
	oid oid!, evtname name!, evtevent name!, evtowner oid!, evtfoid oid!, evtenabled "char"!, evttags text[]
pg_foreign_data_wrapper 2328 r
	oid oid!, fdwname name!, fdwowner oid!, fdwhandler oid!, fdwvalidator oid!, fdwacl aclitem[], fdwoptions text[]
pg_foreign_server 1417 r
	oid oid!, srvname name!, srvowner oid!, srvfdw oid!, srvtype text, srvversion text, srvacl aclitem[],
	srvoptions text[]
pg_foreign_table 3118 r
	ftrelid oid!, ftserver oid!, ftoptions text[]
pg_largeobject 2613 r
	loid oid!, pageno integer!, data bytea!
pg_largeobject_metadata 2995 r
	oid oid!, lomowner oid!, lomacl aclitem[]
pg_parameter_acl 6243 r shared
	oid oid!, parname text!, paracl aclitem[]
pg_publication 6104 r
	oid oid!, pubname name!, pubowner oid!, puballtables boolean!, pubinsert boolean!, pubupdate boolean!,
	pubdelete boolean!, pubtruncate boolean!, pubviaroot boolean!
pg_publication_namespace 6237 r
	oid oid!, pnpubid oid!, pnnspid oid!
pg_publication_rel 6106 r
	oid oid!, prpubid oid!, prrelid oid!, prqual pg_node_tree, prattrs int2vector
pg_replication_origin 6000 r shared
	roident oid!, roname text!
pg_seclabel 3596 r
	objoid oid!, classoid oid!, objsubid integer!, provider text!, label text!
pg_shdepend 1214 r shared
	dbid oid!, classid oid!, objid oid!, objsubid integer!, refclassid oid!, refobjid oid!, deptype "char"!
pg_shdescription 2396 r shared
	objoid oid!, classoid oid!, description text!
pg_shseclabel 3592 r shared
	objoid oid!, classoid oid!, provider text!, label text!
pg_statistic 2619 r
	starelid oid!, staattnum smallint!, stainherit boolean!, stanullfrac real!, stawidth integer!,
	stadistinct real!, stakind1 smallint!, stakind2 smallint!, stakind3 smallint!, stakind4 smallint!,
	stakind5 smallint!, staop1 oid!, staop2 oid!, staop3 oid!, staop4 oid!, staop5 oid!, stacoll1 oid!,
	stacoll2 oid!, stacoll3 oid!, stacoll4 oid!, stacoll5 oid!, stanumbers1 real[], stanumbers2 real[],
	stanumbers3 real[], stanumbers4 real[], stanumbers5 real[], stavalues1 anyarray, stavalues2 anyarray,
	stavalues3 anyarray, stavalues4 anyarray, stavalues5 anyarray
pg_statistic_ext 3381 r
	oid oid!, stxrelid oid!, stxname name!, stxnamespace oid!, stxowner oid!, stxstattarget integer!,
	stxkeys int2vector!, stxkind "char"[]!, stxexprs pg_node_tree
pg_statistic_ext_data 3429 r
	stxoid oid!, stxdinherit boolean!, stxdndistinct pg_ndistinct, stxddependencies pg_dependencies,
	stxdmcv pg_mcv_list, stxdexpr pg_statistic[]
pg_subscription 6100 r shared
	oid oid!, subdbid oid!, subskiplsn pg_lsn!, subname name!, subowner oid!, subenabled boolean!,
	subbinary boolean!, substream boolean!, subtwophasestate "char"!, subdisableonerr boolean!, subconninfo text!,
	subslotname name, subsynccommit text!, subpublications text[]!
pg_subscription_rel 6102 r
	srsubid oid!, srrelid oid!, srsubstate "char"!, srsublsn pg_lsn
pg_tablespace 1213 r shared
	oid oid!, spcname name!, spcowner oid!, spcacl aclitem[], spcoptions text[]
pg_ts_config 3602 r
	oid oid!, cfgname name!, cfgnamespace oid!, cfgowner oid!, cfgparser oid!
pg_ts_config_map 3603 r
	mapcfg oid!, maptokentype integer!, mapseqno integer!, mapdict oid!
pg_ts_dict 3600 r
	oid oid!, dictname name!, dictnamespace oid!, dictowner oid!, dicttemplate oid!, dictinitoption text
pg_ts_parser 3601 r
	oid oid!, prsname name!, prsnamespace oid!, prsstart regproc!, prstoken regproc!, prsend regproc!,
	prsheadline regproc!, prslextype regproc!
pg_ts_template 3764 r
	oid oid!, tmplname name!, tmplnamespace oid!, tmplinit regproc!, tmpllexize regproc!
pg_user_mapping 1418 r
	oid oid!, umuser oid!, umserver oid!, umoptions text[]
`
