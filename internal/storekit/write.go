package storekit

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// A store writes the changes that rules decided in this order: BeforeJobs, its jobs and unique keys,
// AfterJobs, the schedules that only fired, the audit entries.

// BeforeJobs returns the statements that go before those of jobs: new and changed groups.
func BeforeJobs(c *rules.Changes) []Statement {
	return changes(Groups, rules.Groups.Changes(c), func(_, is *rota.Group) bool { return is != nil })
}

// AfterJobs returns the statements that follow those of jobs.
func AfterJobs(c *rules.Changes) []Statement {
	reservations := rules.Reservations.Changes(c)
	return slices.Concat(
		changes(Groups, rules.Groups.Changes(c), func(_, is *rota.Group) bool { return is == nil }),
		changes(Types, rules.Types.Changes(c), nil),
		changes(Templates, rules.Templates.Changes(c), nil),
		scheduleChanges(rules.Schedules.Changes(c)),
		changes(Throttle, rules.Throttle.Changes(c), nil),
		changes(Webhooks, rules.Webhooks.Changes(c), nil),
		changes(Reservations, reservations, func(was, _ *rota.Reservation) bool { return was != nil }),
		changes(Reservations, reservations, func(was, _ *rota.Reservation) bool { return was == nil }), // after the previous one has ended
		changes(Requests, rules.Requests.Changes(c), nil),
		changes(Buckets, rules.Buckets.Changes(c), nil),
		changes(Intents, rules.IntentRecords.Changes(c), nil),
		changes(Dropped, rules.DroppedSchedules.Changes(c), nil),
		principalChanges(rules.Principals.Changes(c)),
		changes(AccessTokens, rules.AccessTokens.Changes(c), nil),
		changes(AccessState, rules.AccessState.Changes(c), nil),
		changes(SecretKeys, rules.SecretKeys.Changes(c), nil), // before the first secret
		changes(Secrets, rules.Secrets.Changes(c), nil),
	)
}

// changes returns the statements of the changes that match; nil matches all.
func changes[K comparable, T any](t *Table[T], all []rules.Change[K, T], match func(was, is *T) bool) (statements []Statement) {
	for _, c := range all {
		if match == nil || match(c.Was, c.Is) {
			statements = append(statements, t.Change(c.Was, c.Is)...)
		}
	}
	return statements
}

// ChangesHooks reports whether webhooks are changed.
func ChangesHooks(c *rules.Changes) bool {
	has := func(t *rota.Template) bool { return t != nil && len(t.Spec.Webhooks) > 0 }
	return len(rules.Webhooks.Changes(c)) > 0 ||
		slices.ContainsFunc(rules.Templates.Changes(c), func(t rules.Change[string, rota.Template]) bool { return has(t.Was) || has(t.Is) })
}

const (
	sqlInsertDefinition = `
INSERT INTO rota_definitions (id, name)
SELECT $1, $2
WHERE NOT EXISTS (SELECT 1 FROM rota_definitions WHERE id = $1)
ON CONFLICT (id) DO NOTHING`
	sqlInsertEdge = `
INSERT INTO rota_edges (schedule, depends_on)
VALUES ($1, $2)`
	sqlDeleteEdge = `
DELETE FROM rota_edges
WHERE schedule = $1 AND depends_on = $2`
)

// scheduleChanges returns the statements of schedules and of their edges that differ, without the
// schedules that only fired. The database deletes the edges of a deleted schedule.
func scheduleChanges(all []rules.Change[string, rota.Schedule]) (statements []Statement) {
	for _, c := range all {
		if OnlyFired(c.Was, c.Is) {
			continue
		}
		statements = append(statements, Schedules.Change(c.Was, c.Is)...)
		if c.Is == nil {
			continue
		}
		var was []string
		if c.Was != nil && !Schedules.replaces(c.Was, c.Is) {
			was = c.Was.Spec.DependsOn
		} else {
			statements = append(statements, Statement{sqlInsertDefinition, []any{rota.DefinitionID(c.Key), c.Key}})
		}
		statements = append(statements, edges(sqlDeleteEdge, c.Key, was, c.Is.Spec.DependsOn)...)
		statements = append(statements, edges(sqlInsertEdge, c.Key, c.Is.Spec.DependsOn, was)...)
	}
	return statements
}

func edges(sql, schedule string, all, but []string) (statements []Statement) {
	for _, name := range all {
		if !slices.Contains(but, name) {
			statements = append(statements, Statement{sql, []any{schedule, name}})
		}
	}
	return statements
}

// OnlyFired reports whether only the times that a fire sets differ. Every change of the spec and
// every resume also change the version.
func OnlyFired(was, is *rota.Schedule) bool {
	return was != nil && is != nil && was.Version == is.Version && was.State == is.State && was.Reason == is.Reason &&
		was.TriggeredAt.Equal(is.TriggeredAt)
}

const sqlFire = `
UPDATE rota_schedules
SET next_fire = $2, last_fire = $3, moved_at = $4
WHERE name = $1`

// Fired returns the statements of the schedules that only fired, one for each.
func Fired(c *rules.Changes) (statements []Statement) {
	for _, one := range rules.Schedules.Changes(c) {
		if OnlyFired(one.Was, one.Is) {
			statements = append(statements, Statement{sqlFire, []any{
				one.Key, one.Is.NextFire, one.Is.LastFire, one.Is.MovedAt,
			}})
		}
	}
	return statements
}

// KeyChanges returns the statements of unique keys, one for each.
func KeyChanges(c *rules.Changes) []Statement {
	return changes(UniqueKeys, rules.UniqueKeys.Changes(c), nil)
}
