package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

const matchHeader = "If-Match"

// versioned is a representation with a version, which is its entity tag.
type versioned interface{ ETag() string }

// checkMatch refuses a write with If-Match whose tags do not contain the version that the resource
// has. If they do, the command of the request requires this version, so that a change in between is
// refused too.
//
// A replayed request is not refused here, because its first sending may have changed the version. Its
// command requires a version that no resource has: the store answers a command that it has applied
// without a comparison, and refuses one that it has not.
func (c *call) checkMatch() error {
	c.required = nil
	given := c.r.Header.Values(matchHeader)
	if len(given) == 0 {
		return nil
	}
	if c.op.version == nil {
		if c.op.writes() {
			return unmatchable()
		}
		return nil
	}
	text := strings.Join(given, ",")
	anyTag := strings.TrimSpace(text) == "*"
	if anyTag && c.replay {
		return nil
	}
	version, err := c.op.version(c)
	switch {
	case err == nil && anyTag:
		return nil
	case err == nil && hasTag(text, api.ETag(version)):
		c.required = &version
		return nil
	case c.replay && (err == nil || rota.CodeOf(err) == rota.NotFound):
		c.required = new(rota.NewID())
		return nil
	case rota.CodeOf(err) == rota.NotFound && c.op.method == http.MethodPut: // would create it
		return c.notMatched("it does not exist")
	case err != nil:
		return err
	}
	return c.notMatched("the current tag is " + api.ETag(version))
}

// unmatchable refuses If-Match of a write that changes no single resource with a version.
func unmatchable() error {
	p := problem.Malformed(matchHeader, "is given, but this request changes no resource that has a tag")
	p.Hint = "omit If-Match"
	return p
}

// matched answers a read with If-Match whose tags do not contain that of the response, and a write whose
// resource was changed after checkMatch, with 412.
func (c *call) matched(answer reply, err error) (reply, error) {
	given := c.r.Header.Values(matchHeader)
	var e *rota.Error
	switch v, isVersioned := answer.body.(versioned); {
	case c.required != nil && errors.As(err, &e) && e.Code == rota.Conflict && e.Field == "version":
		return reply{}, c.notMatched(e.Reason)
	case err == nil && len(given) > 0 && isVersioned && !c.op.writes():
		if text := strings.Join(given, ","); strings.TrimSpace(text) != "*" && !hasTag(text, v.ETag()) {
			return reply{}, c.notMatched("the current tag is " + v.ETag())
		}
	}
	return answer, err
}

func (c *call) notMatched(reason string) error {
	p := &api.Problem{
		Title: "Precondition failed", Status: http.StatusPreconditionFailed, Code: string(rota.Conflict),
		Detail: matchHeader + " is " + quoted(strings.Join(c.r.Header.Values(matchHeader), ",")) + ", but " + reason,
		Hint:   "read it again, then repeat the request with the tag in the header ETag",
	}
	if !c.last.IsZero() && c.last != c.id {
		p.Detail += "; the tag is that of job " + c.last.String() + ", the last attempt, which the request changes"
		p.Hint = "read " + base + "/jobs/" + c.last.String() + ", then repeat the request with the tag in the header ETag"
	}
	return p
}

// versionOr returns the version that If-Match requires, otherwise the given one.
func (c *call) versionOr(read *rota.ID) *rota.ID {
	if c.required != nil {
		return c.required
	}
	return read
}

// hasTag reports whether a list of entity tags contains a tag. As RFC 9110 requires for If-Match, a weak tag
// is equal to none. Neither is a text that is no tag.
func hasTag(list, tag string) bool {
	for list = strings.TrimLeft(list, ", \t"); list != ""; list = strings.TrimLeft(list, ", \t") {
		start := 0 // where to look for the comma after the tag
		if quoted, isQuoted := strings.CutPrefix(strings.TrimPrefix(list, "W/"), `"`); isQuoted {
			start = len(list) - len(quoted) + strings.IndexByte(quoted, '"') + 1 // the opening quote if there is no other
		}
		one, rest, _ := strings.Cut(list[start:], ",")
		if strings.TrimSpace(list[:start]+one) == tag {
			return true
		}
		list = rest
	}
	return false
}

// The versions of the resources in the path.

func typeVersion(c *call) (rota.ID, error) {
	t, err := c.Store.Type(c.ctx, c.name())
	return versionOf(t, err, func(t *rota.Type) rota.ID { return t.Version })
}

func templateVersion(c *call) (rota.ID, error) {
	t, err := c.Store.Template(c.ctx, c.name())
	return versionOf(t, err, func(t *rota.Template) rota.ID { return t.Version })
}

func scheduleVersion(c *call) (rota.ID, error) {
	s, err := c.Store.Schedule(c.ctx, c.name())
	return versionOf(s, err, func(s *rota.Schedule) rota.ID { return s.Version })
}

func userVersion(c *call) (rota.ID, error) {
	p, err := c.principal(rota.KindUser)
	return versionOf(p, err, func(p *rota.Principal) rota.ID { return p.Version })
}

func limitsVersion(c *call) (rota.ID, error) {
	t, err := c.Store.Throttle(c.ctx)
	return versionOf(t, err, func(t *rota.Throttle) rota.ID { return t.Version })
}

func webhooksVersion(c *call) (rota.ID, error) {
	h, err := c.Store.Webhooks(c.ctx)
	return versionOf(h, err, func(h *rota.Webhooks) rota.ID { return h.Version })
}

// jobVersion returns the version of the last attempt, which the actions change.
func jobVersion(c *call) (rota.ID, error) {
	j, err := c.Store.LastAttempt(c.ctx, c.id)
	if err == nil {
		c.last = j.ID
	}
	return versionOf(j, err, func(j *rota.Job) rota.ID { return j.Version })
}

func versionOf[T any](row *T, err error, version func(*T) rota.ID) (rota.ID, error) {
	if err != nil {
		return rota.ID{}, err
	}
	return version(row), nil
}
