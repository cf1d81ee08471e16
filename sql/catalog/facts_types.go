package catalog

// typeFacts are PostgreSQL's types, but for arrays, which follow from what they are
// of, and the rows of tables. The fields are those of readType.
const typeFacts = `
16 bool 1000 1 t b B t , 0 0 1242 1243 2436 2437 0 0 0 c p f 0 -1 0 0
17 bytea 1001 -1 f b U f , 0 0 1244 31 2412 2413 0 0 0 i x f 0 -1 0 0
18 char 1002 1 t b Z f , 0 0 1245 33 2434 2435 0 0 0 c p f 0 -1 0 0
19 name 1003 64 f b S f , 0 18 34 35 2422 2423 0 0 0 c p f 0 -1 950 6180
20 int8 1016 8 t b N f , 0 0 460 461 2408 2409 0 0 0 d p f 0 -1 0 0
21 int2 1005 2 t b N f , 0 0 38 39 2404 2405 0 0 0 s p f 0 -1 0 0
22 int2vector 1006 -1 f b A f , 0 21 40 41 2410 2411 0 0 0 i p f 0 -1 0 6179
23 int4 1007 4 t b N f , 0 0 42 43 2406 2407 0 0 0 i p f 0 -1 0 0
24 regproc 1008 4 t b N f , 0 0 44 45 2444 2445 0 0 0 i p f 0 -1 0 0
25 text 1009 -1 f b S t , 0 0 46 47 2414 2415 0 0 0 i x f 0 -1 100 0
26 oid 1028 4 t b N t , 0 0 1798 1799 2418 2419 0 0 0 i p f 0 -1 0 0
27 tid 1010 6 f b U f , 0 0 48 49 2438 2439 0 0 0 s p f 0 -1 0 0
28 xid 1011 4 t b U f , 0 0 50 51 2440 2441 0 0 0 i p f 0 -1 0 0
29 cid 1012 4 t b U f , 0 0 52 53 2442 2443 0 0 0 i p f 0 -1 0 0
30 oidvector 1013 -1 f b A f , 0 26 54 55 2420 2421 0 0 0 i p f 0 -1 0 6179
32 pg_ddl_command 0 8 t p P f , 0 0 86 87 88 90 0 0 0 d p f 0 -1 0 0
114 json 199 -1 f b U f , 0 0 321 322 323 324 0 0 0 i x f 0 -1 0 0
142 xml 143 -1 f b U f , 0 0 2893 2894 2898 2899 0 0 0 i x f 0 -1 0 0
194 pg_node_tree 0 -1 f b Z f , 0 0 195 196 197 198 0 0 0 i x f 0 -1 100 0
269 table_am_handler 0 4 t p P f , 0 0 267 268 0 0 0 0 0 i p f 0 -1 0 0
325 index_am_handler 0 4 t p P f , 0 0 326 327 0 0 0 0 0 i p f 0 -1 0 0
600 point 1017 16 f b G f , 0 701 117 118 2428 2429 0 0 0 d p f 0 -1 0 6180
601 lseg 1018 32 f b G f , 0 600 119 120 2480 2481 0 0 0 d p f 0 -1 0 6180
602 path 1019 -1 f b G f , 0 0 121 122 2482 2483 0 0 0 d x f 0 -1 0 0
603 box 1020 32 f b G f ; 0 600 123 124 2484 2485 0 0 0 d p f 0 -1 0 6180
604 polygon 1027 -1 f b G f , 0 0 347 348 2486 2487 0 0 0 d x f 0 -1 0 0
628 line 629 24 f b G f , 0 701 1490 1491 2488 2489 0 0 0 d p f 0 -1 0 6180
650 cidr 651 -1 f b I f , 0 0 1267 1427 2498 2499 0 0 0 i m f 0 -1 0 0
700 float4 1021 4 t b N f , 0 0 200 201 2424 2425 0 0 0 i p f 0 -1 0 0
701 float8 1022 8 t b N t , 0 0 214 215 2426 2427 0 0 0 d p f 0 -1 0 0
705 unknown 0 -2 f p X f , 0 0 109 110 2416 2417 0 0 0 c p f 0 -1 0 0
718 circle 719 24 f b G f , 0 0 1450 1451 2490 2491 0 0 0 d p f 0 -1 0 0
774 macaddr8 775 8 f b U f , 0 0 4110 4111 3446 3447 0 0 0 i p f 0 -1 0 0
790 money 791 8 t b N f , 0 0 886 887 2492 2493 0 0 0 d p f 0 -1 0 0
829 macaddr 1040 6 f b U f , 0 0 436 437 2494 2495 0 0 0 i p f 0 -1 0 0
869 inet 1041 -1 f b I t , 0 0 910 911 2496 2497 0 0 0 i m f 0 -1 0 0
1033 aclitem 1034 12 f b U f , 0 0 1031 1032 0 0 0 0 0 i p f 0 -1 0 0
1042 bpchar 1014 -1 f b S f , 0 0 1044 1045 2430 2431 2913 2914 0 i x f 0 -1 100 0
1043 varchar 1015 -1 f b S f , 0 0 1046 1047 2432 2433 2915 2916 0 i x f 0 -1 100 0
1082 date 1182 4 t b D f , 0 0 1084 1085 2468 2469 0 0 0 i p f 0 -1 0 0
1083 time 1183 8 t b D f , 0 0 1143 1144 2470 2471 2909 2910 0 d p f 0 -1 0 0
1114 timestamp 1115 8 t b D f , 0 0 1312 1313 2474 2475 2905 2906 0 d p f 0 -1 0 0
1184 timestamptz 1185 8 t b D t , 0 0 1150 1151 2476 2477 2907 2908 0 d p f 0 -1 0 0
1186 interval 1187 16 f b T t , 0 0 1160 1161 2478 2479 2903 2904 0 d p f 0 -1 0 0
1266 timetz 1270 12 f b D f , 0 0 1350 1351 2472 2473 2911 2912 0 d p f 0 -1 0 0
1560 bit 1561 -1 f b V f , 0 0 1564 1565 2456 2457 2919 2920 0 i x f 0 -1 0 0
1562 varbit 1563 -1 f b V t , 0 0 1579 1580 2458 2459 2902 2921 0 i x f 0 -1 0 0
1700 numeric 1231 -1 f b N f , 0 0 1701 1702 2460 2461 2917 2918 0 i m f 0 -1 0 0
1790 refcursor 2201 -1 f b U f , 0 0 46 47 2414 2415 0 0 0 i x f 0 -1 0 0
2202 regprocedure 2207 4 t b N f , 0 0 2212 2213 2446 2447 0 0 0 i p f 0 -1 0 0
2203 regoper 2208 4 t b N f , 0 0 2214 2215 2448 2449 0 0 0 i p f 0 -1 0 0
2204 regoperator 2209 4 t b N f , 0 0 2216 2217 2450 2451 0 0 0 i p f 0 -1 0 0
2205 regclass 2210 4 t b N f , 0 0 2218 2219 2452 2453 0 0 0 i p f 0 -1 0 0
2206 regtype 2211 4 t b N f , 0 0 2220 2221 2454 2455 0 0 0 i p f 0 -1 0 0
2249 record 2287 -1 f p P f , 0 0 2290 2291 2402 2403 0 0 0 d x f 0 -1 0 0
2275 cstring 1263 -2 f p P f , 0 0 2292 2293 2500 2501 0 0 0 c p f 0 -1 0 0
2276 any 0 4 t p P f , 0 0 2294 2295 0 0 0 0 0 i p f 0 -1 0 0
2277 anyarray 0 -1 f p P f , 0 0 2296 2297 2502 2503 0 0 0 d x f 0 -1 0 0
2278 void 0 4 t p P f , 0 0 2298 2299 3120 3121 0 0 0 i p f 0 -1 0 0
2279 trigger 0 4 t p P f , 0 0 2300 2301 0 0 0 0 0 i p f 0 -1 0 0
2280 language_handler 0 4 t p P f , 0 0 2302 2303 0 0 0 0 0 i p f 0 -1 0 0
2281 internal 0 8 t p P f , 0 0 2304 2305 0 0 0 0 0 d p f 0 -1 0 0
2283 anyelement 0 4 t p P f , 0 0 2312 2313 0 0 0 0 0 i p f 0 -1 0 0
2287 _record 0 -1 f p P f , 0 2249 750 751 2400 2401 0 0 3816 d x f 0 -1 0 6179
2776 anynonarray 0 4 t p P f , 0 0 2777 2778 0 0 0 0 0 i p f 0 -1 0 0
2950 uuid 2951 16 f b U f , 0 0 2952 2953 2961 2962 0 0 0 c p f 0 -1 0 0
2970 txid_snapshot 2949 -1 f b U f , 0 0 2939 2940 2941 2942 0 0 0 d x f 0 -1 0 0
3115 fdw_handler 0 4 t p P f , 0 0 3116 3117 0 0 0 0 0 i p f 0 -1 0 0
3220 pg_lsn 3221 8 t b U f , 0 0 3229 3230 3238 3239 0 0 0 d p f 0 -1 0 0
3310 tsm_handler 0 4 t p P f , 0 0 3311 3312 0 0 0 0 0 i p f 0 -1 0 0
3361 pg_ndistinct 0 -1 f b Z f , 0 0 3355 3356 3357 3358 0 0 0 i x f 0 -1 100 0
3402 pg_dependencies 0 -1 f b Z f , 0 0 3404 3405 3406 3407 0 0 0 i x f 0 -1 100 0
3500 anyenum 0 4 t p P f , 0 0 3504 3505 0 0 0 0 0 i p f 0 -1 0 0
3614 tsvector 3643 -1 f b U f , 0 0 3610 3611 3639 3638 0 0 3688 i x f 0 -1 0 0
3615 tsquery 3645 -1 f b U f , 0 0 3612 3613 3641 3640 0 0 0 i p f 0 -1 0 0
3642 gtsvector 3644 -1 f b U f , 0 0 3646 3647 0 0 0 0 0 i p f 0 -1 0 0
3734 regconfig 3735 4 t b N f , 0 0 3736 3737 3738 3739 0 0 0 i p f 0 -1 0 0
3769 regdictionary 3770 4 t b N f , 0 0 3771 3772 3773 3774 0 0 0 i p f 0 -1 0 0
3802 jsonb 3807 -1 f b U f , 0 0 3806 3804 3805 3803 0 0 0 i x f 0 -1 0 6098
3831 anyrange 0 -1 f p P f , 0 0 3832 3833 0 0 0 0 0 d x f 0 -1 0 0
3838 event_trigger 0 4 t p P f , 0 0 3594 3595 0 0 0 0 0 i p f 0 -1 0 0
3904 int4range 3905 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 i x f 0 -1 0 0
3906 numrange 3907 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 i x f 0 -1 0 0
3908 tsrange 3909 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 d x f 0 -1 0 0
3910 tstzrange 3911 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 d x f 0 -1 0 0
3912 daterange 3913 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 i x f 0 -1 0 0
3926 int8range 3927 -1 f r R f , 0 0 3834 3835 3836 3837 0 0 3916 d x f 0 -1 0 0
4072 jsonpath 4073 -1 f b U f , 0 0 4001 4003 4002 4004 0 0 0 i x f 0 -1 0 0
4089 regnamespace 4090 4 t b N f , 0 0 4084 4085 4087 4088 0 0 0 i p f 0 -1 0 0
4096 regrole 4097 4 t b N f , 0 0 4098 4092 4094 4095 0 0 0 i p f 0 -1 0 0
4191 regcollation 4192 4 t b N f , 0 0 4193 4194 4196 4197 0 0 0 i p f 0 -1 0 0
4451 int4multirange 6150 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 i x f 0 -1 0 0
4532 nummultirange 6151 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 i x f 0 -1 0 0
4533 tsmultirange 6152 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 d x f 0 -1 0 0
4534 tstzmultirange 6153 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 d x f 0 -1 0 0
4535 datemultirange 6155 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 i x f 0 -1 0 0
4536 int8multirange 6157 -1 f m R f , 0 0 4231 4232 4233 4234 0 0 4242 d x f 0 -1 0 0
4537 anymultirange 0 -1 f p P f , 0 0 4229 4230 0 0 0 0 0 d x f 0 -1 0 0
4538 anycompatiblemultirange 0 -1 f p P f , 0 0 4226 4227 0 0 0 0 0 d x f 0 -1 0 0
4600 pg_brin_bloom_summary 0 -1 f b Z f , 0 0 4596 4597 4598 4599 0 0 0 i x f 0 -1 100 0
4601 pg_brin_minmax_multi_summary 0 -1 f b Z f , 0 0 4638 4639 4640 4641 0 0 0 i x f 0 -1 100 0
5017 pg_mcv_list 0 -1 f b Z f , 0 0 5018 5019 5020 5021 0 0 0 i x f 0 -1 100 0
5038 pg_snapshot 5039 -1 f b U f , 0 0 5055 5056 5057 5058 0 0 0 d x f 0 -1 0 0
5069 xid8 271 8 t b U f , 0 0 5070 5081 5082 5083 0 0 0 d p f 0 -1 0 0
5077 anycompatible 0 4 t p P f , 0 0 5086 5087 0 0 0 0 0 i p f 0 -1 0 0
5078 anycompatiblearray 0 -1 f p P f , 0 0 5088 5089 5090 5091 0 0 0 d x f 0 -1 0 0
5079 anycompatiblenonarray 0 4 t p P f , 0 0 5092 5093 0 0 0 0 0 i p f 0 -1 0 0
5080 anycompatiblerange 0 -1 f p P f , 0 0 5094 5095 0 0 0 0 0 d x f 0 -1 0 0
10029 pg_statistic 10028 -1 f c C f , 2619 0 2290 2291 2402 2403 0 0 0 d x f 0 -1 0 0
13221 cardinal_number 13220 4 t d N f , 0 0 2597 43 2598 2407 0 0 0 i p f 23 -1 0 0
13224 character_data 13223 -1 f d S f , 0 0 2597 1047 2598 2433 0 0 0 i x f 1043 -1 950 0
13226 sql_identifier 13225 64 f d S f , 0 0 2597 35 2598 2423 0 0 0 c p f 19 -1 950 0
13232 time_stamp 13231 8 t d D f , 0 0 2597 1151 2598 2477 0 0 0 d p f 1184 2 0 0
13234 yes_or_no 13233 -1 f d S f , 0 0 2597 1047 2598 2433 0 0 0 i x f 1043 7 950 0
`

// rangeFacts say what the range types are of.
const rangeFacts = `
3904 23 4451 0 1978 3914 3922
3906 1700 4532 0 3125 0 3924
3908 1114 4533 0 3128 0 3929
3910 1184 4534 0 3127 0 3930
3912 1082 4535 0 3122 3915 3925
3926 20 4536 0 3124 3928 3923
`
