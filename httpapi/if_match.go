package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

const matchHeader = "If-Match"

// versioned is a representation with a version, which is its entity tag.
type versioned interface{ ETag() string }

// checkMatch refuses a write with If-Match whose tags do not contain the version that the resource
// has. If they do, the command of the request requires this version, so that a change in between is
// refused too. A replayed request was checked when it was first sent.
func (c *call) checkMatch() error {
	c.required = nil
	given := c.r.Header.Values(matchHeader)
	if len(given) == 0 || c.op.version == nil || c.replay {
		return nil
	}
	version, err := c.op.version(c)
	switch {
	case rota.CodeOf(err) == rota.NotFound && c.op.method == http.MethodPut: // would create it
		return notMatched(given, "it does not exist")
	case err != nil:
		return err
	}
	if text := strings.Join(given, ","); strings.TrimSpace(text) != "*" {
		if !hasTag(text, api.ETag(version)) {
			return notMatched(given, "the current tag is "+api.ETag(version))
		}
		c.required = &version
	}
	return nil
}

// matched answers a read with If-Match whose tags do not contain that of the response, and a write whose
// resource was changed after checkMatch, with 412.
func (c *call) matched(answer reply, err error) (reply, error) {
	given := c.r.Header.Values(matchHeader)
	var e *rota.Error
	switch v, isVersioned := answer.body.(versioned); {
	case c.required != nil && errors.As(err, &e) && e.Code == rota.Conflict && e.Field == "version":
		return reply{}, notMatched(given, e.Reason)
	case err == nil && len(given) > 0 && isVersioned && !c.op.writes():
		if text := strings.Join(given, ","); strings.TrimSpace(text) != "*" && !hasTag(text, v.ETag()) {
			return reply{}, notMatched(given, "the current tag is "+v.ETag())
		}
	}
	return answer, err
}

func notMatched(given []string, reason string) error {
	return &api.Problem{
		Title: "Precondition failed", Status: http.StatusPreconditionFailed, Code: string(rota.Conflict),
		Detail: matchHeader + " is " + quoted(strings.Join(given, ",")) + ", but " + reason,
		Hint:   "read it again, then repeat the request with the tag in the header ETag",
	}
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
	return versionOf(j, err, func(j *rota.Job) rota.ID { return j.Version })
}

func versionOf[T any](row *T, err error, version func(*T) rota.ID) (rota.ID, error) {
	if err != nil {
		return rota.ID{}, err
	}
	return version(row), nil
}
