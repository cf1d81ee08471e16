package postgres

import (
	"context"

	"github.com/rotajobs/rota"
)

var _ rota.Membership = (*Store)(nil)

const (
	sqlAttend = `
INSERT INTO rota_nodes (name, life, since, until)
VALUES ($1, $2, ` + clockNow + `, ` + clockNow + ` + $3)
ON CONFLICT (name, life) DO UPDATE
SET until = excluded.until`
	// Whose time has not run out keeps it, and nobody else extends it.
	sqlLead = `
INSERT INTO rota_leader (id, name, life, since, until)
VALUES (1, $1, $2, ` + clockNow + `, ` + clockNow + ` + $3)
ON CONFLICT (id) DO UPDATE
SET name = excluded.name, life = excluded.life, until = excluded.until,
  since = CASE WHEN rota_leader.life = excluded.life THEN rota_leader.since ELSE excluded.since END
WHERE rota_leader.life = excluded.life OR rota_leader.until < ` + clockNow
	sqlForget = `
DELETE FROM rota_nodes
WHERE until < ` + clockNow
	sqlRoll = `
SELECT (SELECT count(*) FROM rota_nodes), l.name, l.life = $1
FROM rota_leader l`
	sqlDepart = `
DELETE FROM rota_nodes
WHERE name = $1 AND life = $2`
	sqlResign = `
DELETE FROM rota_leader
WHERE life = $1`

	// clockNow is the time in microseconds.
	clockNow = `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`
)

// Heartbeat notes that a node is there, and says who leads.
func (s *Store) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (at rota.MembershipState, err error) {
	own := []param{textAlways(a.Node), idParam(a.Incarnation), intParam(a.Lease.Microseconds())}
	err = s.ask(ctx, "attend",
		ask{sql: sqlAttend, params: own}, ask{sql: sqlLead, params: own}, ask{sql: sqlForget},
		ask{sql: sqlRoll, params: []param{idParam(a.Incarnation)}, each: func(r row) error {
			at = rota.MembershipState{Nodes: int(r.int(0)), Leader: r.text(1), Leads: r.bool(2)}
			return nil
		}})
	return at, err
}

// Leave takes a node off the roll.
func (s *Store) Leave(ctx context.Context, node string, incarnation rota.ID) error {
	return s.ask(ctx, "depart",
		ask{sql: sqlDepart, params: []param{textAlways(node), idParam(incarnation)}}, ask{sql: sqlResign, params: []param{idParam(incarnation)}})
}
