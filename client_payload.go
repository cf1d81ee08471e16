package rota

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Payload is a Go value that holds the params of a job. It is encoded as a JSON
// object. JobType returns the same name for every value of the Go type.
//
// If a payload has a method Validate() error, the client calls it before it accepts
// the job or a change of its params, and the engine before it calls the handler, whatever way the job came. An
// error of Validate becomes Invalid with the field "params".
type Payload interface{ JobType() string }

// Checker validates payloads against the schema of their Go type.
type Checker interface {
	// Schema returns the JSON Schema of the payload's Go type.
	Schema(p Payload) (json.RawMessage, error)
	// Check validates params against the schema. The error is Invalid and names
	// the field, such as params.to.
	Check(p Payload, params json.RawMessage) error
}

// defaultChecker is the checker of clients without WithChecker.
var defaultChecker Checker

// RegisterChecker sets the checker of clients that are created without WithChecker.
// Package payload calls it when a program is initialized; every store imports that
// package, so that all clients check payloads.
func RegisterChecker(checker Checker) { defaultChecker = checker }

// params validates the payload and returns it as JSON.
func (c *Client) params(p Payload) (json.RawMessage, error) {
	if isNilPayload(p) {
		return nil, Invalidf("params", "the payload is nil (%T)", p)
	}
	if err := checkName("type", p.JobType(), true); err != nil {
		return nil, &Error{Code: Invalid, Field: "type", Reason: fmt.Sprintf("of %T %s", p, err.Reason), Hint: "its method JobType returns the name"}
	}
	c.KnowType(p)
	if err := ValidatePayload(p); err != nil {
		return nil, err
	}
	params, err := encodePayload(p)
	if err != nil {
		return params, err
	}
	schema, err := c.schema(p)
	if err != nil || schema == nil {
		return params, err
	}
	return params, c.checker.Check(p, params)
}

func isNilPayload(p Payload) bool {
	v := reflect.ValueOf(p)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// ValidatePayload calls the payload's Validate, if it has one, also one with a pointer
// receiver. The error is Invalid. If it names a field, the field is reported below
// params. The engine calls it before a handler runs.
func ValidatePayload(p Payload) error {
	v, is := p.(validator)
	if !is && !isNilPayload(p) {
		copied := reflect.New(reflect.TypeOf(p))
		copied.Elem().Set(reflect.ValueOf(p))
		v, is = copied.Interface().(validator)
	}
	if !is {
		return nil
	}
	err := v.Validate()
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Code == Invalid && e.Field != "" && !strings.HasPrefix(e.Field, "params"):
		return within("params", e)
	case errors.As(err, &e) && e.Code == Invalid && e.Field != "":
		return e
	}
	return &Error{Code: Invalid, Field: "params", Err: err}
}

type validator interface{ Validate() error }

// encodePayload encodes a payload as a JSON object.
func encodePayload(p Payload) (json.RawMessage, error) {
	params, err := encodeParams(p)
	if err != nil {
		return nil, err
	}
	if params[0] != '{' {
		return nil, Invalidf("params", "%T, the payload of type %s, is encoded as %s; params are a JSON object, so use a struct or a map",
			p, quote(p.JobType()), quote(string(params)))
	}
	return params, nil
}

// encodeObject encodes a value that must be a JSON object.
func encodeObject(value any) (json.RawMessage, *Error) {
	params, err := encodeParams(value)
	if err != nil {
		return nil, err
	}
	if params[0] != '{' {
		return nil, Invalidf("params", "%T is encoded as %s; params are a JSON object, so use a struct or a map", value, quote(string(params)))
	}
	return params, nil
}

func encodeParams(value any) (json.RawMessage, *Error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, &Error{Code: Invalid, Field: "params", Reason: fmt.Sprintf("%T cannot be encoded as JSON", value), Err: err}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// withoutPrefix removes the path of a command from the field of an error, where the caller
// of the client knows no such command.
func withoutPrefix(err error, prefix string) error {
	e, is := err.(*Error)
	if !is {
		return err
	}
	if field, found := strings.CutPrefix(e.Field, prefix); found {
		alone := *e
		alone.Field = field
		return &alone
	}
	return err
}
