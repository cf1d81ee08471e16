package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

const ThrottleSubject = "limits"

// decidePutThrottle sets the limits. They apply at once, since claims read
// them; a Sweep balances the queues of keys whose limit changed, or of all keys
// if the limit of each key of a prefix or a type changed.
func decidePutThrottle(u *UnitOfWork, c *rota.PutThrottle) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ThrottleSubject)
	t := Throttle.get(u, one)
	if t == nil {
		t = &rota.Throttle{}
	}
	switch {
	case u.auditedSubject(c, ThrottleSubject):
		return &rota.ThrottlePut{Throttle: ownThrottle(t)}, nil
	case c.Version != nil && *c.Version != t.Version:
		return nil, changedSince("the set of limits")
	case t.Spec.Equal(c.Spec):
		return &rota.ThrottlePut{Throttle: ownThrottle(t)}, nil
	}
	next := &rota.Throttle{Spec: c.Spec.Canonical(), Version: c.ID, UpdatedBy: c.Actor, UpdatedAt: u.Now}
	Throttle.set(u, one, next)
	u.each(len(t.Spec.Types), func(i int) {
		limit := &t.Spec.Types[i]
		if next.Spec.Type(limit.Type).Rate != limit.Rate && Buckets.get(u, limit.Type) != nil {
			Buckets.set(u, limit.Type, nil)
		}
	})
	if !slices.Equal(t.Spec.EachKey, next.Spec.EachKey) || !slices.Equal(t.Spec.EachKeyOfType, next.Spec.EachKeyOfType) {
		u.addIntent(IntentKeys, "")
	} else {
		for _, key := range keysWithNewLimit(t.Spec.Keys, next.Spec.Keys) {
			u.addIntent(IntentKey, key)
		}
	}
	u.auditSubject(c, rota.AuditThrottleModified, ThrottleSubject, "", throttleChanges(t, next))
	return &rota.ThrottlePut{Throttle: next, Changed: true}, nil
}

// ownThrottle returns a copy for the reply, since a store may keep the row
// itself.
func ownThrottle(t *rota.Throttle) *rota.Throttle {
	own := *t
	own.Spec = t.Spec.Canonical()
	return &own
}

// keysWithNewLimit returns the keys whose own limit was added, removed or
// changed.
func keysWithNewLimit(was, is []rota.KeyLimit) (keys []string) {
	for _, k := range was {
		if !slices.Contains(is, k) {
			keys = append(keys, k.Key)
		}
	}
	for _, k := range is {
		if !slices.Contains(was, k) && !slices.Contains(keys, k.Key) {
			keys = append(keys, k.Key)
		}
	}
	return keys
}
