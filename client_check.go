package rota

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// TypeChecker is a Checker that can also check params against the schema of a declared
// type. The client uses it for changed params of a job whose Go type it does not know.
type TypeChecker interface {
	// CheckType validates params against the schema of the type. The error is Invalid
	// and names the field, such as params.to.
	CheckType(t *Type, params json.RawMessage) error
}

// payloadTypes holds the Go types of payloads by the job type that they name.
type payloadTypes struct {
	mu    sync.RWMutex
	types map[string]reflect.Type
}

func (k *payloadTypes) find(name string) reflect.Type {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.types[name]
}

func (k *payloadTypes) add(name string, t reflect.Type) {
	if k.find(name) == t {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.types == nil || len(k.types) >= declaredMax {
		k.types = map[string]reflect.Type{}
	}
	k.types[name] = t
}

// KnowType tells the client the Go type of a job type. Edit, Retry and RunAgain then check
// changed params against it, as Enqueue checks a payload. The client knows the Go types
// that were passed to Enqueue and Schedule, and those of the registry of a running engine;
// others are checked against the schema that the store has.
func (c *Client) KnowType(p Payload) { c.payloads.add(p.JobType(), reflect.TypeOf(p)) }

// checkEdit checks changed params of a job that waits, merged into its present ones.
func (c *Client) checkEdit(ctx context.Context, id ID, changes json.RawMessage) error {
	return c.checkLast(ctx, id, changes, func(last *Job) bool { return last.Status == StatusQueued })
}

// checkRepeat checks changed params of an execution that has ended, merged into its present
// ones.
func (c *Client) checkRepeat(ctx context.Context, id ID, changes json.RawMessage) error {
	return c.checkLast(ctx, id, changes, (*Job).Ended)
}

// checkLast checks changed params, merged into those of the last attempt of an execution. What
// the store refuses for another reason is not checked.
func (c *Client) checkLast(ctx context.Context, id ID, changes json.RawMessage, allowed func(last *Job) bool) error {
	last, err := c.store.LastAttempt(ctx, id)
	if CodeOf(err) == NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if allowed(last) {
		return c.checkChanged(ctx, last, changes)
	}
	return nil
}

func (c *Client) checkChanged(ctx context.Context, job *Job, changes json.RawMessage) error {
	if InternalType(job.Type) || checkObject("params", changes, ParamsMax) != nil {
		return nil // the store refuses the command with the reason
	}
	params := MergeParams(job.Params, changes)
	if known := c.payloads.find(job.Type); known != nil {
		return c.checkAsPayload(known, params)
	}
	checker, is := c.checker.(TypeChecker)
	if !is {
		return nil
	}
	t, err := c.typeOf(ctx, job.Type)
	if CodeOf(err) == NotFound { // it is no longer declared, and has no schema
		return nil
	}
	if err != nil {
		return err
	}
	return checker.CheckType(t, params)
}

// checkAsPayload checks params against the schema of a Go type, and calls its Validate.
func (c *Client) checkAsPayload(t reflect.Type, params json.RawMessage) error {
	p, decodeErr := decodePayload(t, params)
	schema, err := c.schema(p)
	if err == nil && schema != nil {
		err = c.checker.Check(p, params)
	}
	switch {
	case err != nil:
		return err
	case decodeErr != nil:
		return decodeErr
	}
	return ValidatePayload(p)
}

// decodePayload decodes params as a Go type of payloads. The payload is usable even if
// there is an error.
func decodePayload(t reflect.Type, params json.RawMessage) (Payload, error) {
	target := reflect.New(t)
	if t.Kind() == reflect.Pointer {
		target.Elem().Set(reflect.New(t.Elem()))
	}
	var invalid error
	if err := json.Unmarshal(params, target.Interface()); err != nil {
		invalid = &Error{Code: Invalid, Field: "params", Reason: fmt.Sprintf("cannot be decoded as %s", t), Err: err}
	}
	return target.Elem().Interface().(Payload), invalid
}
