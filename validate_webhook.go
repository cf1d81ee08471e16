package rota

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkWebhooks checks addresses, secrets and events, and refuses duplicates.
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
			return Invalidf(at+".url", "%s is listed twice; list each address once, with all its events", quote(hooks[i].URL))
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
		return &Error{Code: Invalid, Field: "secret", Reason: "is missing", Hint: "it signs deliveries; choose a long random text and give it to the receiver"}
	}
	for i, kind := range h.Events {
		field := fmt.Sprintf("events[%d]", i)
		if !slices.Contains(events, kind) {
			return &Error{Code: Invalid, Field: field, Reason: quote(string(kind)) + " is not an event of this webhook", Hint: "use one of " + kindNames(events)}
		}
		if slices.Contains(h.Events[:i], kind) {
			return Invalidf(field, "%s is listed twice", quote(string(kind)))
		}
	}
	return nil
}

// checkURL requires an HTTP address.
func checkURL(field, text string) *Error {
	if err := checkText(field, text, URLMax); err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " is not an address", Hint: "write http:// or https://, a host and a path"}
	case u.User != nil:
		return &Error{Code: Invalid, Field: field, Reason: "contains a user or a password", Hint: "remove it: addresses are shown and logged; the signature proves the sender"}
	case u.Port() != "" && !isPort(u.Port()):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " has an invalid port", Hint: "use a port from 1 to 65535, or none"}
	case strings.Contains(text, "#"):
		return &Error{Code: Invalid, Field: field, Reason: shownURL(text) + " contains a #", Hint: "remove the # and the text after it, which is never sent"}
	}
	return nil
}

// shownURL quotes an address, unless it may contain a password.
func shownURL(text string) string {
	if strings.Contains(text, "@") {
		return "the value"
	}
	return quote(text)
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// validateSubmitter refuses jobs of internal types, except deliveries that the engine
// enqueues for events that no store publishes. Those must look like the deliveries of a
// store.
func (n *NewJob) validateSubmitter(actor string) *Error {
	if actor == DeliveredBy && n.isDelivery() {
		return nil
	}
	return checkNotInternal("type", n.Type)
}

func (n *NewJob) isDelivery() bool {
	d, err := ParseDelivery(n.Params)
	plain := n.Template == "" && n.UniqueKey == "" && n.ConcurrencyKey == nil && n.ScopeKind == "" &&
		n.PlanTime.IsZero() && n.RunAt.IsZero() && n.Delay == 0
	return err == nil && plain && n.Type == TypeWebhook && n.Priority != nil && *n.Priority == PriorityMin &&
		n.ID == DeliveryID(n.Params, d.Event, d.Time)
}

// checkNotInternal refuses an internal type.
func checkNotInternal(field, typ string) *Error {
	if !InternalType(typ) {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(typ) + " is an internal type of Rota",
		Hint: "use a type that does not start with " + internalPrefix,
	}
}

func kindNames(kinds []EventKind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// jobEvents are the events that the webhooks of a template can subscribe to.
var jobEvents = slices.DeleteFunc(slices.Clone(WebhookEvents), func(kind EventKind) bool {
	return !strings.HasPrefix(string(kind), "job.")
})
