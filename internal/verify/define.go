package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Type checks a type, given its spec as stored.
func (v *Verifier) Type(t *rota.Type, stored []byte) {
	row := "type " + t.Name
	v.times(row, t.CreatedAt, t.UpdatedAt)
	if spec, read := readSpec[rota.TypeSpec](v, row, stored); read {
		v.checkAccepted(row, (&rota.PutType{Name: t.Name, Spec: spec}).Validate(), rota.CheckBadSpec)
	}
}

// Template checks a template, given the type and the number of webhooks in its
// columns, and its spec as stored.
func (v *Verifier) Template(t *rota.Template, typ string, webhooks int, stored []byte) {
	row := rules.TemplateSubject(t.Name)
	v.templates[t.Name] = t.State
	if t.Owner == "" {
		v.dropped[t.Name] = true
	}
	knownWord(v, row, "state", t.State, rota.TemplateActive, rota.TemplateArchived)
	v.times(row, t.CreatedAt, t.UpdatedAt, t.Since)
	if t.Owner == "" && t.State != rota.TemplateArchived {
		v.violation(rota.CheckOwnerMissing, []string{row}, "it is %s, but has no owner", t.State)
	}
	spec, read := readSpec[rota.TemplateSpec](v, row, stored)
	if !read {
		return
	}
	v.checkAccepted(row, (&rota.PutTemplate{Name: t.Name, Spec: spec}).Validate(), rota.CheckBadSpec)
	v.noteSealed(spec.Webhooks)
	v.column(row, "type", typ, spec.Type)
	v.column(row, "number of webhooks", strconv.Itoa(webhooks), strconv.Itoa(len(spec.Webhooks)))
}

// Throttle checks the limits in force, given their spec as stored.
func (v *Verifier) Throttle(t *rota.Throttle, stored []byte) {
	v.times(rules.ThrottleSubject, t.UpdatedAt)
	if spec, read := readSpec[rota.ThrottleSpec](v, rules.ThrottleSubject, stored); read {
		v.checkAccepted(rules.ThrottleSubject, (&rota.PutThrottle{Spec: spec}).Validate(), rota.CheckBadSpec)
		v.limits = spec
	}
}

// Webhooks checks the webhooks of all events, given their spec as stored.
func (v *Verifier) Webhooks(h *rota.Webhooks, stored []byte) {
	v.times(rules.WebhooksSubject, h.UpdatedAt)
	if spec, read := readSpec[webhookList](v, rules.WebhooksSubject, stored); read {
		v.checkAccepted(rules.WebhooksSubject, (&rota.PutWebhooks{Spec: spec}).Validate(), rota.CheckBadSpec)
		v.noteSealed(spec)
	}
}

// webhookList is a list of webhooks with a canonical form.
type webhookList []rota.Webhook

// Canonical returns the list as it is stored.
func (l webhookList) Canonical() webhookList { return rota.CanonicalWebhooks(l) }

// Bucket checks the recent starts of a type. The limits come first.
func (v *Verifier) Bucket(b *rota.Bucket) {
	row := []string{"starts of type " + b.Type}
	rate := v.limits.Type(b.Type).Rate
	slots := len(rota.Bucket{}.At(rota.Rate{Count: 1, Per: time.Second}, time.Time{}).Starts)
	sum := 0
	for _, n := range b.Starts {
		sum += n
	}
	switch {
	case rate.Count == 0:
		v.violation(rota.CheckBucketShape, row, "starts are counted, but the type has no rate")
	case len(b.Starts) != slots:
		v.violation(rota.CheckBucketShape, row, "it has %d time slots instead of %d", len(b.Starts), slots)
	case slices.Min(b.Starts) < 0:
		v.violation(rota.CheckBucketShape, row, "the count of a time slot is negative")
	case sum > rate.Count:
		v.violation(rota.CheckBucketShape, row, "%d starts are counted, but only %d are allowed", sum, rate.Count)
	}
}

// UnreadableBucket reports counts that cannot be decoded.
func (v *Verifier) UnreadableBucket(row string, err error) {
	v.violation(rota.CheckBadJSON, []string{row}, "its counts cannot be decoded: %v", err)
}

// readSpec decodes a spec as stored and checks that it is in canonical form.
func readSpec[T interface{ Canonical() T }](v *Verifier, row string, stored []byte) (spec T, read bool) {
	if err := json.Unmarshal(stored, &spec); err != nil {
		v.violation(rota.CheckBadSpec, []string{row}, "its spec cannot be decoded: %v", err)
		return spec, false
	}
	if !bytes.Equal(rota.EncodeSpec(spec.Canonical()), stored) {
		v.violation(rota.CheckBadSpec, []string{row}, "its spec is not encoded as this version encodes it")
	}
	return spec, true
}

// checkAccepted reports what a command would refuse. The same code validates
// commands and stored rows.
func (v *Verifier) checkAccepted(row string, err error, check string) {
	var refusal *rota.Error
	if !errors.As(err, &refusal) {
		return
	}
	if refusal.Field == "name" {
		check = rota.CheckOutOfRange
	}
	reason := refusal.Reason
	if reason == "" && refusal.Err != nil {
		reason = refusal.Err.Error()
	}
	v.violation(check, []string{row}, "its %s %s", refusal.Field, reason)
}

// column compares a column that is kept for searching with the spec.
func (v *Verifier) column(row, name, beside, inside string) {
	if beside != inside {
		v.violation(rota.CheckSpecColumn, []string{row}, "its %s is %q, but %q in its spec", name, beside, inside)
	}
}

func (v *Verifier) times(row string, times ...time.Time) {
	for _, t := range times {
		if !inRange(t) {
			v.violation(rota.CheckOutOfRange, []string{row}, "one of its times is %s", rules.Stamp(t))
		}
	}
}

func knownWord[T ~string](v *Verifier, row, what string, word T, words ...T) {
	if !slices.Contains(words, word) {
		v.violation(rota.CheckUnknownWord, []string{row}, "its %s is %q", what, word)
	}
}
