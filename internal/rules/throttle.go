package rules

import "github.com/rotajobs/rota"

const throttleSubject = "limits"

func needPutThrottle(n *Need, c *rota.PutThrottle) {
	n.wroteOf(c, throttleSubject)
	n.throttle()
	for _, t := range n.unit.limits().Types {
		n.bucket(t.Type)
	}
}

// decidePutThrottle sets the limits. Claims look at them, so they hold at once;
// the lanes of keys whose limit changed are balanced by a Sweep.
func decidePutThrottle(w *UnitOfWork, c *rota.PutThrottle) (rota.Reply, *rota.Error) {
	t := w.throttle.get(theThrottle)
	if t == nil {
		t = &rota.Throttle{}
	}
	switch {
	case w.wroteOf(c, throttleSubject):
		return &rota.ThrottlePut{Throttle: ownThrottle(t)}, nil
	case c.Version != nil && *c.Version != t.Version:
		return nil, changedSince("the set of limits")
	case t.Spec.Equal(c.Spec):
		return &rota.ThrottlePut{Throttle: ownThrottle(t)}, nil
	}
	next := &rota.Throttle{Spec: c.Spec.Canonical(), Version: c.ID, UpdatedBy: c.Actor, UpdatedAt: w.Now}
	w.throttle.set(w, theThrottle, next)
	for _, limit := range t.Spec.Types {
		if next.Spec.Type(limit.Type).Rate != limit.Rate && w.buckets.get(limit.Type) != nil {
			w.buckets.set(w, limit.Type, nil)
		}
	}
	for _, key := range changedKeys(&t.Spec, &next.Spec) {
		w.intend(IntentKey, key)
	}
	w.logOf(c, rota.AuditThrottleModified, throttleSubject, "")
	return &rota.ThrottlePut{Throttle: next, Changed: true}, nil
}

// ownThrottle is a copy for whoever asked: a store may keep the row itself.
func ownThrottle(t *rota.Throttle) *rota.Throttle {
	own := *t
	own.Spec = t.Spec.Canonical()
	return &own
}

// changedKeys are the keys that have another limit than before, or none.
func changedKeys(was, is *rota.ThrottleSpec) (keys []string) {
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
