package rota

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkWebhooks refuses what no delivery could be made of.
func checkWebhooks(field string, hooks []Webhook, events []EventKind) error {
	if len(hooks) > WebhooksMax {
		return Invalidf(field, "there are %d; at most %d are allowed", len(hooks), WebhooksMax)
	}
	seen := map[string]bool{}
	for i := range hooks {
		at := fmt.Sprintf("%s[%d]", field, i)
		if err := hooks[i].check(events); err != nil {
			return within(at, err)
		}
		if seen[hooks[i].URL] {
			return Invalidf(at+".url", "%s stands in the list already; give each address once, with all its events", quote(hooks[i].URL))
		}
		seen[hooks[i].URL] = true
	}
	return nil
}

func (h *Webhook) check(events []EventKind) *Error {
	if err := first(checkURL("url", h.URL), checkText("secret", h.Secret, KeyMax)); err != nil {
		return err
	}
	if h.Secret == "" {
		return &Error{Code: Invalid, Field: "secret", Reason: "is missing", Hint: "deliveries are signed with it; give one that nobody guesses, and give it to the receiver"}
	}
	for i, kind := range h.Events {
		field := fmt.Sprintf("events[%d]", i)
		if !slices.Contains(events, kind) {
			return &Error{Code: Invalid, Field: field, Reason: quote(string(kind)) + " is nothing that it can be told of", Hint: "it is told of " + kindNames(events)}
		}
		if slices.Contains(h.Events[:i], kind) {
			return Invalidf(field, "%s stands there already", quote(string(kind)))
		}
	}
	return nil
}

// checkURL refuses what is no address of HTTP.
func checkURL(field, text string) *Error {
	if err := checkText(field, text, URLMax); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " is not an address", Hint: "write http:// or https://, a host, and a path"}
	case u.User != nil:
		return &Error{Code: Invalid, Field: field, Reason: "has a user or password in it", Hint: "an address is shown and logged; the signature proves who sends"}
	case u.Port() != "" && !isPort(u.Port()):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " has a port that there is not", Hint: "give one from 1 to 65535, or none"}
	case strings.Contains(text, "#"):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " has a # in it", Hint: "leave it out with what follows, which is never sent"}
	}
	return nil
}

// shownURL is what was given for an address, unless a password may stand in it.
func shownURL(text string) string {
	if strings.Contains(text, "@") {
		return "what is given"
	}
	return quote(text)
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// validateMaker refuses a job of Rota's own, unless Rota itself makes it, and as a
// store would: a delivery of what no store finds out.
func (n *NewJob) validateMaker(actor string) *Error {
	if actor == DeliveredBy && n.isDelivery() {
		return nil
	}
	return checkNotOurs("type", n.Type)
}

func (n *NewJob) isDelivery() bool {
	d, err := ParseDelivery(n.Params)
	plain := n.Template == "" && n.UniqueKey == "" && n.ConcurrencyKey == nil && n.ScopeKind == "" &&
		n.PlanTime.IsZero() && n.RunAt.IsZero() && n.Delay == 0
	return err == nil && plain && n.Type == TypeWebhook && n.Priority != nil && *n.Priority == PriorityMin &&
		n.ID == DeliveryID(n.Params, d.Event, d.Time)
}

// checkNotOurs refuses to submit what only Rota makes.
func checkNotOurs(field, typ string) *Error {
	if !InternalType(typ) {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(typ) + " is a type of Rota's own, which nobody else submits",
		Hint: "use a type that does not begin with " + internalPrefix,
	}
}

func kindNames(kinds []EventKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// jobEvents are the events of jobs, of which a template's webhooks are told.
var jobEvents = slices.DeleteFunc(slices.Clone(WebhookEvents), func(kind EventKind) bool {
	return !strings.HasPrefix(string(kind), "job.")
})
