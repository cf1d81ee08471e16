package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func (s *state) token(id string) *rota.AccessToken {
	return pickOne(s.tokens, func(t *rota.AccessToken) bool { return t.ID == id })
}

func (s *step) putToken(c *rota.PutToken) (rota.Reply, *rota.Error) {
	subject, t := "token "+c.TokenID, s.token(c.TokenID)
	if s.auditedSubject(subject) {
		return &rota.TokenPut{Token: t}, nil
	}
	expires := c.ExpiresAt.UTC().Truncate(time.Microsecond)
	user := s.principal(c.User)
	switch {
	case t != nil:
		return nil, s.refuse(rota.Conflict, "token_id", "there is a token %s", c.TokenID)
	case c.User != rota.AdminUser && (user == nil || user.Kind != rota.KindUser):
		return nil, s.refuse(rota.NotFound, "user", "there is no user %s", c.User)
	case !expires.IsZero() && (!expires.After(s.now) || expires.After(s.now.Add(rota.TokenMax))):
		return nil, s.refuse(rota.Invalid, "expires_at", "is not in the next ten years")
	}
	t = &rota.AccessToken{
		ID: c.TokenID, User: c.User, Scope: c.Scope, Type: c.Type, Job: c.Job, Hash: c.Hash, Verifier: c.Verifier,
		CreatedBy: c.Actor, CreatedAt: s.accessTime(), ExpiresAt: expires,
	}
	s.tokens = append(s.tokens, t)
	s.changeAccess(c.ID, t.CreatedAt)
	changes := map[string]change{"user": {New: t.User}, "scope": {New: t.Scope}}
	if t.Type != "" {
		changes["type"] = change{New: t.Type}
	}
	if t.Job != "" {
		changes["job"] = change{New: t.Job}
	}
	if !expires.IsZero() {
		changes["expires_at"] = change{New: expires}
	}
	s.auditSubject("TOKEN_CREATED", subject, tokenText(t), changesText(changes))
	return &rota.TokenPut{Token: t, Changed: true}, nil
}

func tokenText(t *rota.AccessToken) string { return fmt.Sprintf("user %s, scope %s", t.User, t.Scope) }

func (s *step) revokeToken(c *rota.RevokeToken) (rota.Reply, *rota.Error) {
	t := s.token(c.TokenID)
	switch {
	case t == nil:
		return nil, s.refuse(rota.NotFound, "token_id", "there is no token %s", c.TokenID)
	case !t.RevokedAt.IsZero() || s.auditedSubject("token "+t.ID):
		return &rota.TokenRevoked{Token: t}, nil
	}
	t.RevokedAt, t.RevokedBy = s.now, c.Actor
	s.changeAccess(c.ID, never)
	s.auditSubject("TOKEN_REVOKED", "token "+t.ID, tokenText(t), nil)
	return &rota.TokenRevoked{Token: t, Changed: true}, nil
}

func (s *step) touchTokens(c *rota.TouchTokens) (rota.Reply, *rota.Error) {
	before := map[string]time.Time{}
	for _, use := range c.Uses {
		t := s.token(use.TokenID)
		if t == nil {
			continue
		}
		if _, seen := before[t.ID]; !seen {
			before[t.ID] = t.LastUsedAt
		}
		at := use.At.UTC().Truncate(time.Microsecond)
		if s.now.Before(at) {
			at = s.now
		}
		if t.LastUsedAt.Before(at) {
			t.LastUsedAt = at
		}
	}
	reply := &rota.TokensTouched{}
	for id, was := range before {
		if !s.token(id).LastUsedAt.Equal(was) {
			reply.Touched++
		}
	}
	return reply, nil
}

func (s *step) recordAccess(c *rota.RecordAccess) (rota.Reply, *rota.Error) {
	reply := &rota.AccessRecorded{}
	for i, r := range c.Records {
		e := rota.AuditEntry{
			ID: s.auditNameID(fmt.Sprintf("record %d", i)), At: s.now, Actor: r.Actor, Act: r.Act, Subject: r.Subject,
			JobID: r.JobID, ExecutionID: r.ExecutionID, Schedule: r.Schedule, RunID: r.RunID, Detail: r.Detail,
		}
		if r.Count > 1 {
			e.Detail = fmt.Sprintf("%d times", r.Count)
			if r.Detail != "" {
				e.Detail += "; " + r.Detail
			}
		}
		if r.Act == "LOGIN_FAILED" || r.Act == "ACCESS_DENIED" {
			e.Outcome = "DENIED"
		}
		if !s.hasEntry(e.ID) {
			reply.Recorded++
		}
		s.appendAudit(e)
	}
	return reply, nil
}

// removeEndedTokens removes tokens 30 days after they were revoked or have expired.
func (s *step) removeEndedTokens() {
	var ended []*rota.AccessToken
	for _, t := range s.tokens {
		if end := endOf(t); !end.IsZero() && end.Before(s.now.Add(-rota.TokenKeep)) && !s.auditedSubject("token "+t.ID) {
			ended = append(ended, t)
		}
	}
	slices.SortFunc(ended, func(a, b *rota.AccessToken) int { return cmp.Or(endOf(a).Compare(endOf(b)), cmp.Compare(a.ID, b.ID)) })
	for _, t := range ended[:min(len(ended), rota.PruneMax)] {
		s.tokens = slices.DeleteFunc(s.tokens, func(one *rota.AccessToken) bool { return one == t })
		s.changeAccess(s.id(), never)
		s.auditSubject("TOKEN_PRUNED", "token "+t.ID, tokenText(t), nil)
	}
}

func endOf(t *rota.AccessToken) time.Time {
	if t.RevokedAt.IsZero() {
		return t.ExpiresAt
	}
	return t.RevokedAt
}
