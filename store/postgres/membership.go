package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

var _ rota.Membership = (*Store)(nil)

const (
	sqlNodeHeartbeat = `
INSERT INTO rota_nodes (name, life, since, until, version, workers)
VALUES ($1, $2, coalesce($4, ` + clockNow + `), ` + clockNow + ` + $3, nullif($5, ''), nullif($6, 0))
ON CONFLICT (name, life) DO UPDATE
SET since = excluded.since, until = excluded.until, version = excluded.version, workers = excluded.workers`
	// The leader keeps the lead until its lease ends, and only the leader extends that lease.
	sqlTakeLead = `
INSERT INTO rota_leader (id, name, life, since, until)
VALUES (1, $1, $2, ` + clockNow + `, ` + clockNow + ` + $3)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, life = excluded.life, until = excluded.until,
  since = CASE WHEN rota_leader.life = excluded.life THEN rota_leader.since ELSE excluded.since END
WHERE rota_leader.life = excluded.life OR rota_leader.until < ` + clockNow
	sqlDeleteExpiredNodes = `
WITH gone AS (
  DELETE FROM rota_nodes
  WHERE until < ` + clockNow + `
  RETURNING name, life
)
SELECT DISTINCT g.name
FROM gone g
WHERE NOT EXISTS (SELECT FROM rota_nodes n WHERE n.name = g.name AND n.life <> g.life)
ORDER BY g.name`
	sqlMembership = `
SELECT (SELECT count(*) FROM rota_nodes), l.name, l.life = $1, (SELECT min(since) FROM rota_nodes WHERE name <> $2)
FROM rota_leader l`
	// A node that was restarted has two rows until the lease of the first one ends.
	sqlMembers = `
SELECT DISTINCT ON (n.name) n.name, l.life IS NOT NULL, n.since, n.version, n.workers
FROM rota_nodes n
LEFT JOIN rota_leader l ON l.life = n.life AND l.until >= ` + clockNow + `
WHERE n.until >= ` + clockNow + `
ORDER BY n.name, n.until DESC, n.life DESC`
	sqlLeave = `
DELETE FROM rota_nodes
WHERE name = $1 AND life = $2`
	sqlResign = `
DELETE FROM rota_leader
WHERE life = $1`
)

// Heartbeat records that a node is alive, and returns the leader.
func (s *Store) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (at rota.MembershipState, err error) {
	var left []string
	own := []param{textNotNull(a.Node), idParam(a.Incarnation), intParam(a.Lease.Microseconds())}
	err = s.query(ctx, "node heartbeat",
		statement{sql: sqlNodeHeartbeat, params: append(own[:3:3], timeParam(a.Since), textNotNull(a.Version), intParam(int64(a.Workers)))}, statement{sql: sqlTakeLead, params: own},
		statement{sql: sqlDeleteExpiredNodes, eachRow: func(r row) error {
			left = append(left, r.Text(0))
			return nil
		}},
		statement{sql: sqlMembership, params: []param{idParam(a.Incarnation), textNotNull(a.Node)}, eachRow: func(r row) error {
			at = rota.MembershipState{Nodes: int(r.Int(0)), Leader: r.Text(1), Leads: r.Bool(2), OthersSince: r.Time(3)}
			return nil
		}})
	at.Left = left
	return at, err
}

// Members lists the live nodes.
func (s *Store) Members(ctx context.Context) (all []rota.Member, err error) {
	err = s.query(ctx, "list nodes", statement{sql: sqlMembers, eachRow: func(r row) error {
		all = append(all, rota.Member{Name: r.Text(0), Leads: r.Bool(1), Since: r.Time(2), Version: r.Text(3), Workers: int(r.Int(4))})
		return nil
	}})
	return all, err
}

// Leave removes a node from the membership.
func (s *Store) Leave(ctx context.Context, node string, incarnation rota.ID) error {
	return s.query(ctx, "leave",
		statement{sql: sqlLeave, params: []param{textNotNull(node), idParam(incarnation)}}, statement{sql: sqlResign, params: []param{idParam(incarnation)}})
}
