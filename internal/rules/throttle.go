package rules

import "github.com/rotajobs/rota"

const ThrottleSubject = "limits"

// decidePutThrottle sets the limits. They apply at once, since claims read
// them; a Sweep balances the queues of keys whose limit changed.
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
	for _, key := range keysWithNewLimit(&t.Spec, &next.Spec) {
		u.addIntent(IntentKey, key)
	}
	u.auditSubject(c, rota.AuditThrottleModified, ThrottleSubject, "")
	return &rota.ThrottlePut{Throttle: next, Changed: true}, nil
}

// ownThrottle returns a copy for the reply, since a store may keep the row
// itself.
func ownThrottle(t *rota.Throttle) *rota.Throttle {
	own := *t
	own.Spec = t.Spec.Canonical()
	return &own
}

// keysWithNewLimit returns the keys whose limit differs, in either direction.
func keysWithNewLimit(was, is *rota.ThrottleSpec) (keys []string) {
	for _, k := range was.Keys {
		if limit, limited := is.Key(k.Key); !limited || limit != k.Concurrency {
			keys = append(keys, k.Key)
		}
	}
	for _, k := range is.Keys {
		if _, limited := was.Key(k.Key); !limited {
			keys = append(keys, k.Key)
		}
	}
	return keys
}
