package session

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
)

const (
	sqlShowUsers = `
SELECT name, has_password, certificate, is_admin, created_by, created_at_ts AS created_at
FROM sys.users
ORDER BY name`

	sqlShowRoles = `
SELECT r.name, (SELECT string_agg(m.member, ', ' ORDER BY m.member) FROM sys.role_members m WHERE m.role = r.name) AS members,
  r.is_admin, r.created_by, r.created_at_ts AS created_at
FROM sys.roles r
ORDER BY r.name`

	sqlShowGrants = `
SELECT grantee, privilege, job, NULL::text AS through, granted_by, since_ts AS since
FROM sys.grants
ORDER BY grantee, job NULLS FIRST, privilege`

	// The name of the user or role stands for $1, so that the statement has no parameter for clients.
	sqlShowGrantsFor = `
WITH RECURSIVE held (role, through) AS (
  SELECT $1::text, NULL::text
  UNION
  SELECT m.role, m.role FROM held JOIN sys.role_members m ON m.member = held.role
)
SELECT $1::text AS grantee, g.privilege, g.job, held.through, g.granted_by, g.since_ts AS since
FROM held JOIN sys.grants g ON g.grantee = held.role
ORDER BY g.job NULLS FIRST, g.privilege, held.through NULLS FIRST`

	sqlPrincipalExists = `SELECT 1 FROM sys.users WHERE name = $1 UNION ALL SELECT 1 FROM sys.roles WHERE name = $1`
)

// showGrants answers SHOW GRANTS.
func (s *Session) showGrants(ctx context.Context, q *ddl.ShowGrants) (*Answer, error) {
	if q.For != nil {
		name := cmp.Or(*q.For, s.user)
		found, err := s.query(ctx, sqlPrincipalExists, []any{name})
		if err != nil {
			return nil, err
		}
		known := len(found.Rows) > 0
		found.Release()
		if !known {
			return nil, noPrincipal("user or role", name, nil).at(ddl.PlaceFor)
		}
	}
	return s.query(ctx, s.showGrantsText(q), nil)
}

// showGrantsText returns the query of SHOW GRANTS.
func (s *Session) showGrantsText(q *ddl.ShowGrants) string {
	if q.For == nil {
		return sqlShowGrants
	}
	name := "'" + strings.ReplaceAll(cmp.Or(*q.For, s.user), "'", "''") + "'"
	return strings.ReplaceAll(sqlShowGrantsFor, "$1", name)
}

// adminFresh is how long a session uses what it knows of the privileges of its user. It only shows them; the store decides
// about each command.
const adminFresh = time.Second

// adminState is whether the user of a session has ADMIN, and when that was read.
type adminState struct {
	is bool
	at time.Time // zero: never
}

// isSuperuser is the value of the setting is_superuser. A store that knows an identity says whether its token excludes
// anything.
func (s *Session) isSuperuser() string {
	if s.admin.at.IsZero() || time.Since(s.admin.at) > adminFresh {
		ctx, stop := context.WithTimeout(context.Background(), adminFresh)
		defer stop()
		s.admin = adminState{s.hasAdmin(ctx), time.Now()}
	}
	if s.admin.is {
		return "on"
	}
	return "off"
}

func (s *Session) hasAdmin(ctx context.Context) bool {
	if guard, is := rota.StoreAs[interface{ IsAdmin(context.Context) bool }](s.store); is {
		return guard.IsAdmin(ctx)
	}
	if s.user == rota.AdminUser {
		return true
	}
	is, err := system.HasAdmin(s.user, func(name string) (*rota.Principal, error) { return orNil(s.store.Principal(ctx, name)) })
	return is && err == nil
}
