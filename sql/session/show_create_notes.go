package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/system"
)

// differences returns comments about what differs between a job and the one that its CREATE JOB statement creates.
func differences(s *rota.Schedule, t *rota.Template) (comments []string) {
	add := func(text string, list ...string) {
		comments = append(comments, "-- "+text+strings.Join(list, ", "))
	}
	if t.Name != s.Name {
		add("the job uses template " + t.Name + "; the statement creates a template for this job alone")
	}
	if t.State == rota.TemplateArchived {
		add("the template of the job is archived; the statement creates an active one")
	}
	if list := inherited(s, t); len(list) > 0 {
		add("settings of the template, written as clauses of the job: ", list...)
	}
	if list := withoutClause(s, t); len(list) > 0 {
		add("left out, since no clause sets it: ", list...)
	}
	if list := rounded(s, t); len(list) > 0 {
		add("rounded up, since a clause has whole seconds: ", list...)
	}
	return comments
}

// inherited returns the clauses whose values are settings of the template.
func inherited(s *rota.Schedule, t *rota.Template) (clauses []string) {
	own, defaults := &s.Spec, &t.Spec
	for _, one := range []struct {
		clause   string
		inherits bool
	}{
		{"DESCRIPTION", own.Description == "" && defaults.Description != ""},
		{"PRIORITY", own.Priority == nil && defaults.Priority != nil},
		{"MAX_RETRIES", own.Policy.MaxRetries == nil && defaults.Policy.MaxRetries != nil},
		{"RETRY_BACKOFF", own.Policy.Backoff == nil && defaults.Policy.Backoff != nil},
		{"TIMEOUT", own.Policy.Timeout == nil && defaults.Policy.Timeout != nil},
	} {
		if one.inherits {
			clauses = append(clauses, one.clause)
		}
	}
	return clauses
}

// withoutClause returns the settings that no clause sets.
func withoutClause(s *rota.Schedule, t *rota.Template) (settings []string) {
	add := func(set bool, format string, args ...any) {
		if set {
			settings = append(settings, fmt.Sprintf(format, args...))
		}
	}
	policy := withoutClauses(s.Spec.Policy.Or(t.Spec.Policy))
	add(len(s.Spec.Scopes) > 0, "scopes (%d)", len(s.Spec.Scopes))
	add(len(t.Spec.Webhooks) > 0, "webhooks (%d)", len(t.Spec.Webhooks))
	if policy.BackoffMax != nil {
		add(true, "backoff_max %s", rota.FormatDuration(*policy.BackoffMax))
	}
	if policy.Jitter != nil {
		add(true, "jitter %s", strconv.FormatFloat(*policy.Jitter, 'g', -1, 64))
	}
	add(t.Spec.ConcurrencyKey != "", "concurrency_key %q", t.Spec.ConcurrencyKey)
	add(t.Spec.UniqueFor != 0, "unique_for %s", rota.FormatDuration(t.Spec.UniqueFor))
	return settings
}

// rounded returns the clauses whose durations have a fraction of a second, with the exact durations.
func rounded(s *rota.Schedule, t *rota.Template) (clauses []string) {
	policy := s.Spec.Policy.Or(t.Spec.Policy)
	for _, one := range []struct {
		clause string
		exact  *time.Duration
	}{{"EVERY", &s.Spec.Every}, {"RETRY_BACKOFF", policy.Backoff}, {"TIMEOUT", policy.Timeout}} {
		if one.exact != nil && *one.exact != system.WholeSeconds(*one.exact) {
			clauses = append(clauses, one.clause+" from "+rota.FormatDuration(*one.exact))
		}
	}
	return clauses
}

// wholeSeconds rounds a duration up.
func wholeSeconds(d *time.Duration) *time.Duration {
	if d == nil {
		return nil
	}
	return new(system.WholeSeconds(*d))
}
