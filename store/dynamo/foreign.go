package dynamo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/logstore"
	"github.com/rotajobs/rota/payload"
)

// Other programs may put pending items into the partition of jobs. The leader enqueues each that is due. The id of
// the job is that of the item, and that of the command follows from it, so that an item is enqueued once however
// often it is read.

// foreignActor is the actor of jobs that other programs have put into the table.
const foreignActor = "dynamodb"

const (
	markLag       = time.Minute    // items may be put this late
	rereadSpan    = 24 * time.Hour // of the time that is read again now and then
	rereadEvery   = 10             // polls
	attrSettledTo = "settled_to"
)

func pollMarkKey() item { return key("rota#layout", "poll") }

// poller enqueues the items of other programs.
type poller struct {
	log       *commandLog
	checker   *payload.Checker
	retention rota.Retention
	polls     int
	pruned    rota.ID // the last execution that was examined for its age
}

func (p *poller) run(ctx context.Context) {
	failures := outage{logger: p.log.logger}
	for sleep(ctx, p.log.options.Poll) == nil {
		if !p.log.lead.leads() {
			continue
		}
		if err := p.poll(ctx); ctx.Err() == nil {
			failures.note(err, "the items of other programs cannot be read; they are read again later", "the items of other programs are read again")
		}
	}
}

// poll reads all items that are due, from the mark behind which everything is settled.
func (p *poller) poll(ctx context.Context) error {
	now, err := p.log.Now(ctx)
	if err != nil {
		return err
	}
	mark, err := p.log.table.get(ctx, "read mark", pollMarkKey())
	if err != nil {
		return err
	}
	from := mark.text(attrSettledTo)
	if p.polls%rereadEvery == 0 && from != "" {
		from = min(from, placePrefix+itemTime(now.Add(-rereadSpan)))
	}
	p.polls++
	if err := p.adoptAll(ctx, from, now); err != nil {
		return err
	}
	if err := p.prune(ctx, now); err != nil {
		return err
	}
	settled := placePrefix + itemTime(now.Add(-markLag))
	if settled <= mark.text(attrSettledTo) {
		return nil
	}
	i := pollMarkKey()
	i[attrSettledTo] = stringValue(settled)
	return p.log.table.put(ctx, "write mark", i)
}

// adoptAll enqueues the pending items of other programs between two places, oldest first.
func (p *poller) adoptAll(ctx context.Context, from string, now time.Time) error {
	input := &dynamodb.QueryInput{
		KeyConditionExpression: aws.String(attrPK + " = :job AND " + attrSK + " BETWEEN :from AND :now"),
		ExpressionAttributeValues: item{
			":job": stringValue(jobPK), ":from": stringValue(max(from, placePrefix)), ":now": stringValue(placePrefix + now.UTC().Format(time.RFC3339Nano) + "~"),
		},
		Limit: aws.Int32(int32(p.log.options.Page)),
	}
	for {
		page, next, err := p.log.table.query(ctx, "read items", input)
		if err != nil {
			return err
		}
		if err := p.adopt(ctx, page, now, "", p.log.Commit); err != nil || next == nil {
			return err
		}
		input.ExclusiveStartKey = next
	}
}

// isForeign reports whether an item is one that another program has put and that nobody has enqueued.
func isForeign(i item) bool {
	return i[attrEntry] == nil && i.text(attrStatus) == statusPending && strings.HasPrefix(i.text(attrSK), placePrefix)
}

// isLocked reports whether a worker of another program has locked an item.
func isLocked(i item, now time.Time) bool {
	until, err := parseItemTime(i.text(attrLockExpires))
	return err == nil && until.After(now)
}

// commit appends an entry to the log.
type commit func(context.Context, logstore.Entry) ([]rota.Result, error)

// adopt enqueues the foreign items of a page. An item that cannot be enqueued becomes a dead letter. The unique key,
// which may be empty, is that of a deduplication record that refers to the items.
func (p *poller) adopt(ctx context.Context, page []item, now time.Time, unique string, commit commit) error {
	var commands []rota.Command
	var adopted []item
	for _, i := range page {
		if !isForeign(i) || isLocked(i, now) {
			continue
		}
		command, err := p.command(ctx, i, now, unique)
		if err != nil {
			if err := p.refuse(ctx, i, err); err != nil {
				return err
			}
			continue
		}
		commands, adopted = append(commands, command), append(adopted, i)
	}
	if len(commands) == 0 {
		return nil
	}
	if !p.log.lead.leads() && unique == "" {
		return nil // the next leader may have enqueued them, and their jobs may be pruned already
	}
	results, err := commit(ctx, logstore.Entry{Batch: rota.Batch{Commands: commands}})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(layoutAtOnce)
	for n := range results {
		group.Go(func() error { return p.mark(ctx, adopted[n], &results[n]) })
	}
	return group.Wait()
}

// mark notes in a foreign item that it was enqueued. Only its job tells that otherwise, until it is pruned.
func (p *poller) mark(ctx context.Context, i item, r *rota.Result) error {
	if r.Err != nil {
		return p.refuse(ctx, i, r.Err)
	}
	submitted := r.Reply.(*rota.Enqueued).Jobs[0]
	if job := submitted.Job; job == nil || job.ScopeID != i.text(attrSK) {
		return p.refuse(ctx, i, &rota.Error{Code: rota.Conflict, Field: attrSK, Reason: "its UUID or its unique key is that of another job", Hint: "put the item with a new UUID"})
	}
	_, err := p.log.table.update(ctx, "mark item", i.key(), "SET #rota = :entry", "attribute_not_exists(#rota) AND attribute_exists("+attrPK+")",
		map[string]string{"#rota": attrEntry}, item{":entry": numberValue(int64(p.log.replica.Applied().Index))})
	return err
}

// command returns the command that enqueues a foreign item.
func (p *poller) command(ctx context.Context, i item, now time.Time, unique string) (rota.Command, error) {
	sk := i.text(attrSK)
	at, err := placeTime(sk)
	if err != nil {
		return nil, err
	}
	id, err := placeID(sk)
	if err != nil {
		return nil, err
	}
	params, err := payloadOf(i)
	if err != nil {
		return nil, err
	}
	if err := p.check(ctx, i.text(attrJobType), params); err != nil {
		return nil, err
	}
	command := &rota.Enqueue{
		Meta: rota.Meta{ID: id.Derive([]byte("dynamodb item")), Actor: foreignActor, RulesVersion: rota.RulesVersion},
		Jobs: []rota.NewJob{{ID: id, Type: i.text(attrJobType), Params: params, UniqueKey: unique, ScopeKind: rota.ItemScopeKind, ScopeID: sk}},
	}
	if at.After(now) {
		command.Jobs[0].RunAt = at
	}
	return command, rota.CheckCommand(command)
}

// check validates a payload against the schema of its type, if it has one.
func (p *poller) check(ctx context.Context, typ string, params json.RawMessage) error {
	t, err := p.log.replica.Type(logstore.Local(ctx), typ)
	if rota.CodeOf(err) == rota.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return p.checker.CheckType(t, params)
}

// payloadOf returns the payload of an item as JSON. It is a map or JSON text.
func payloadOf(i item) (json.RawMessage, error) {
	switch value := i[attrPayload].(type) {
	case nil:
		return json.RawMessage("{}"), nil
	case *types.AttributeValueMemberS:
		if !json.Valid([]byte(value.Value)) {
			return nil, rota.Invalidf(attrPayload, "is a text that is no JSON")
		}
		return json.RawMessage(value.Value), nil
	case *types.AttributeValueMemberM:
		text, err := json.Marshal(plain(value))
		if err != nil {
			return nil, rota.Invalidf(attrPayload, "cannot be written as JSON: %v", err)
		}
		return text, nil
	}
	return nil, rota.Invalidf(attrPayload, "is neither a map nor JSON text")
}

// plain returns what an attribute is in JSON.
func plain(value types.AttributeValue) any {
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		return value.Value
	case *types.AttributeValueMemberN:
		return json.Number(value.Value)
	case *types.AttributeValueMemberBOOL:
		return value.Value
	case *types.AttributeValueMemberB:
		return value.Value
	case *types.AttributeValueMemberSS:
		return value.Value
	case *types.AttributeValueMemberBS:
		return value.Value
	case *types.AttributeValueMemberNS:
		numbers := make([]json.Number, len(value.Value))
		for n, v := range value.Value {
			numbers[n] = json.Number(v)
		}
		return numbers
	case *types.AttributeValueMemberL:
		list := make([]any, len(value.Value))
		for n, v := range value.Value {
			list[n] = plain(v)
		}
		return list
	case *types.AttributeValueMemberM:
		object := make(map[string]any, len(value.Value))
		for name, v := range value.Value {
			object[name] = plain(v)
		}
		return object
	}
	return nil
}

// refuse makes a foreign item a dead letter, unless its program has changed it in the meantime.
func (p *poller) refuse(ctx context.Context, i item, why error) error {
	var known *rota.Error
	if code := rota.CodeOf(why); !errors.As(why, &known) || code == rota.Unavailable || code == rota.Busy || code == rota.Internal {
		return why
	}
	const others = 100 // bytes that the other attributes grow by, or more
	reason := cut(why.Error(), max(0, min(lastErrorMax, itemBytesMax-i.size()-others)))
	p.log.logger.Warn("an item of another program is refused and becomes a dead letter", "item", i.text(attrSK), "type", i.text(attrJobType), "error", why)
	set := "SET #status = :dead, #error = :why, #rota = :entry"
	names := map[string]string{"#status": attrStatus, "#error": attrLastError, "#rota": attrEntry}
	values := item{":dead": stringValue(statusDead), ":pending": stringValue(statusPending), ":why": stringValue(reason), ":entry": numberValue(0)}
	if age := p.retention.Dead.Age; age > 0 {
		set += ", #ttl = :ttl"
		names["#ttl"], values[":ttl"] = attrTTL, numberValue(p.log.readClock().Add(age).Unix())
	}
	_, err := p.log.table.update(ctx, "refuse item", i.key(), set, "#status = :pending AND attribute_not_exists(#rota)", names, values)
	if isValidation(err) { // it has no space for them, and must not stop the others
		p.log.logger.Warn("an item of another program cannot be enqueued, and is too large to be a dead letter", "SK", i.text(attrSK), "error", why)
		return nil
	}
	return err
}
