package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Limits of what a recorder keeps until it writes.
const (
	recordEvery = time.Minute      // how often counted events are written
	touchEvery  = 10 * time.Second // how often the last uses of tokens are written
	loginWithin = time.Second      // after which a login that is the first of its kind is written

	usesMax       = 1_000 // tokens whose last use is remembered
	perSourceMax  = 100   // different events of one source; further ones of it are counted together
	failedMax     = 1_000 // different failed logins of all sources; further ones are counted together
	recordsOfPage = 250   // entries of one command
)

// unknownToken is counted instead of the ids of tokens that do not exist: a stranger can invent any number of them.
const unknownToken = rota.TokenPrefix + "unknown"

// recorder counts logins, failed logins and denials, so that a stranger cannot fill the audit, and remembers the uses of
// tokens. Many different events of one source never hide those of another: a source is the user of a login or a denial,
// and the network of a failed login.
type recorder struct {
	mu      sync.Mutex
	counts  map[record]int
	sources map[source]int // different events of each source
	failed  int            // different failed logins
	uses    map[string]time.Time
	written map[record]bool // logins that were written before the counts were, so that repeats are no different events
	soon    chan struct{}   // a login waits to be written
}

// record is what entries of the audit are counted by.
type record struct{ act, actor, subject, detail string }

// source is what the number of different events is limited by.
type source struct{ act, name string }

func newRecorder() recorder {
	return recorder{counts: map[record]int{}, sources: map[source]int{}, uses: map[string]time.Time{}, written: map[record]bool{}, soon: make(chan struct{}, 1)}
}

// count counts an event. Strangers choose a part of its texts, and the audit must accept all of them.
func (r *recorder) count(one record) {
	one.actor, one.subject, one.detail = clean(one.actor, rota.NameMax), clean(one.subject, rota.KeyMax), clean(one.detail, rota.ReasonMax)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(one, 1)
}

// add counts an event n times, by itself or together with others.
func (r *recorder) add(one record, n int) {
	if _, known := r.counts[one]; !known && !r.written[one] {
		if one = r.distinct(one); one.act == rota.AuditLogin {
			r.wake()
		}
	}
	r.counts[one] = min(r.counts[one]+n, rota.AccessCountMax)
}

// wake has the logins written soon. A process that is killed loses only repeats of them.
func (r *recorder) wake() {
	select {
	case r.soon <- struct{}{}:
	default:
	}
}

// distinct returns what a new event is counted as: itself, or together with others.
func (r *recorder) distinct(one record) record {
	from := one.source()
	switch {
	case r.sources[from] >= perSourceMax:
		return one.others()
	case one.act == rota.AuditLoginFailed && r.failed >= failedMax:
		return record{act: one.act, detail: fmt.Sprintf("others; there were more than %d different ones", failedMax)}
	case one.act == rota.AuditLoginFailed:
		r.failed++
	}
	r.sources[from]++
	return one
}

func (one record) source() source {
	if one.act == rota.AuditLoginFailed { // its actor need not exist
		return source{one.act, one.detail}
	}
	return source{one.act, one.actor}
}

// others stands for further events of the same source.
func (one record) others() record {
	text := fmt.Sprintf("others; there were more than %d different ones", perSourceMax)
	if one.act == rota.AuditLoginFailed {
		return record{act: one.act, detail: clean(one.detail, rota.KeyMax) + "; " + text}
	}
	return record{act: one.act, actor: one.actor, subject: userSubject(one.actor), detail: text}
}

// clean makes a text of a stranger storable: UTF-8 without NUL, at most so many bytes.
func clean(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text[:min(len(text), 4*most)], "\uFFFD"), "\x00", "\uFFFD")
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// denied counts a refusal. What a user may not see is not a denial: the answer is the same if it does not exist.
func (r *recorder) denied(user string, refusal *rota.Error) {
	if refusal.Code == rota.Denied {
		r.count(record{act: rota.AuditAccessDenied, actor: user, subject: userSubject(user), detail: named(refusal.Reason)})
	}
}

// bareID is the id of a token in a reason.
var bareID = regexp.MustCompile(`\btoken ([` + idLetters + `]{12})\b`)

// named replaces the ids of tokens by their names rota_ID. The audit hides what looks like a secret after the word token, and
// shows the name.
func named(reason string) string {
	return bareID.ReplaceAllString(reason, "token "+rota.TokenPrefix+"$1")
}

func userSubject(user string) string { return "user " + user }

func (r *recorder) used(token string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.uses) < usesMax {
		r.uses[token] = at
	}
}

// LoggedIn counts a login. The origin says how: "sql from 192.0.2.7".
func (d *Directory) LoggedIn(id Identity, origin string) {
	if id.Token != "" {
		d.recorder.used(id.Token, d.clock())
		origin += " with token " + rota.TokenPrefix + id.Token
	}
	d.recorder.count(record{act: rota.AuditLogin, actor: id.User, subject: userSubject(id.User), detail: origin})
}

// LoginFailed counts a failed login. The user or the token rota_ID may not exist.
func (d *Directory) LoginFailed(user, origin string) {
	if id, is := strings.CutPrefix(user, rota.TokenPrefix); is && !d.knowsToken(id) {
		user = unknownToken
	}
	user = clean(user, rota.NameMax)
	d.recorder.count(record{act: rota.AuditLoginFailed, actor: user, subject: userSubject(user), detail: origin})
}

// knowsToken reports whether a token exists. The check of the login has just read it.
func (d *Directory) knowsToken(id string) bool {
	c := d.current.Load()
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[id] != nil
}

// Run writes what was counted, until the context ends, and then once more.
func (d *Directory) Run(ctx context.Context, failed func(error)) {
	touch, counts := time.NewTicker(touchEvery), time.NewTicker(recordEvery)
	defer touch.Stop()
	defer counts.Stop()
	var logins <-chan time.Time
	for {
		select {
		case <-d.recorder.soon:
			if logins == nil {
				logins = time.After(loginWithin)
			}
		case <-logins:
			logins = nil
			d.report(d.write(ctx, d.recorder.takeLogins()), failed)
		case <-touch.C:
			d.report(d.writeUses(ctx), failed)
		case <-counts.C:
			d.report(d.writeCounts(ctx), failed)
		case <-ctx.Done():
			last, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer done()
			d.report(errors.Join(d.writeUses(last), d.writeCounts(last)), failed)
			return
		}
	}
}

func (d *Directory) report(err error, failed func(error)) {
	if err != nil && failed != nil {
		failed(err)
	}
}

// writeCounts writes the counted events to the audit. What cannot be written now is counted further.
func (d *Directory) writeCounts(ctx context.Context) error { return d.write(ctx, d.recorder.take()) }

func (d *Directory) write(ctx context.Context, records []rota.AccessRecord) error {
	var refused error
	for pages := slices.Collect(slices.Chunk(records, recordsOfPage)); len(pages) > 0; pages = pages[1:] {
		page := pages[0]
		err := d.send(ctx, &rota.RecordAccess{Meta: rota.NewMeta(""), Records: page})
		switch {
		case err == nil:
		case rota.CodeOf(err) != rota.Invalid:
			d.recorder.giveBack(slices.Concat(pages...))
			return errors.Join(refused, err)
		case len(page) > 1: // one record must not keep the others from the audit
			pages = slices.Concat(pages[:1], slices.Collect(slices.Chunk(page, 1)), pages[1:])
		default:
			refused = errors.Join(refused, err)
		}
	}
	return refused
}

// take returns the counted events in a fixed order, and begins to count again.
func (r *recorder) take() []rota.AccessRecord {
	r.mu.Lock()
	taken := r.counts
	r.counts, r.sources, r.written, r.failed = map[record]int{}, map[source]int{}, map[record]bool{}, 0
	r.mu.Unlock()
	return recordsOf(taken)
}

// takeLogins returns the logins that were not written since the counts were. Their repeats, and what is counted together,
// wait for the counts, so that the entries of a user are bounded.
func (r *recorder) takeLogins() []rota.AccessRecord {
	taken := map[record]int{}
	r.mu.Lock()
	for one, n := range r.counts {
		if one.act == rota.AuditLogin && !r.written[one] && one != one.others() {
			taken[one], r.written[one] = n, true
			delete(r.counts, one)
		}
	}
	r.mu.Unlock()
	return recordsOf(taken)
}

func recordsOf(taken map[record]int) []rota.AccessRecord {
	records := make([]rota.AccessRecord, 0, len(taken))
	for one, n := range taken {
		records = append(records, rota.AccessRecord{Act: one.act, Actor: one.actor, Subject: one.subject, Detail: one.detail, Count: n})
	}
	slices.SortFunc(records, func(a, b rota.AccessRecord) int {
		return cmp.Or(cmp.Compare(a.Act, b.Act), cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Detail, b.Detail))
	})
	return records
}

// giveBack counts events again that could not be written.
func (r *recorder) giveBack(records []rota.AccessRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range records {
		again := record{one.Act, one.Actor, one.Subject, one.Detail}
		r.add(again, one.Count)
		delete(r.written, again) // the next login, or the next count, writes it
	}
}

// writeUses writes when tokens were last used. What cannot be written is lost: the next use is written.
func (d *Directory) writeUses(ctx context.Context) error {
	r := &d.recorder
	r.mu.Lock()
	taken := r.uses
	r.uses = map[string]time.Time{}
	r.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	command := &rota.TouchTokens{Meta: rota.NewMeta("")}
	for id, at := range taken {
		command.Uses = append(command.Uses, rota.TokenUse{TokenID: id, At: at})
	}
	slices.SortFunc(command.Uses, func(a, b rota.TokenUse) int { return cmp.Compare(a.TokenID, b.TokenID) })
	return d.send(ctx, command)
}

func (d *Directory) send(ctx context.Context, c rota.Command) error {
	results, err := d.store.Apply(ctx, rota.Batch{Commands: []rota.Command{c}})
	if err == nil && results[0].Err != nil {
		err = results[0].Err
	}
	return err
}
