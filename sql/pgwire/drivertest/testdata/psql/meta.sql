\d
\d+
\dt
\dt+
\dt sys.*
\dt sys.job*
\dt *.jobs
\dt nothing
\dtS pg_cl*
\dn
\dn+
\dnS
\l
\l+
\l ro*
\du
\du+
\dg
\df
\df pg_catalog.format*
\df+ format_type
\df *.now
\df count
\df percentile*
\da
\daS count
\dv
\dvS pg_t*
\di
\di+
\di sys.jobs*
\ds
\dm
\dE
\dT
\dT+
\dTS int*
\dT+ uuid
\dx
\dx+
\dp
\dp jobs
\z jobs
\ddp
\dC uuid
\dc
\dD
\dd
\do
\doS ~~
\do pg_catalog.||
\db
\db+
\dy
\dRp
\dRp+
\dRs
\dRs+
\dconfig
\dconfig *time*
\dconfig+ timezone
\sf format_type
\sf+ pg_catalog.format_type(oid, integer)
\sv sys.jobs
\drds
\dF
\dFd
\dFp
\dFt
\dL
\dLS
\dl
\des
\dew
\deu
\det
\dO
\dOS
\dP
\dPt
\dPi
\dA
\dA+
\dAc btree uuid
\dAf btree uuid
\dAo
\dAp
\dX
\conninfo
\encoding
\encoding UTF8
\encoding LATIN1
