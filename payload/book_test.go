package payload_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

func typeOf(name, schema string, version rota.ID) *rota.Type {
	return &rota.Type{Name: name, Version: version, Spec: rota.TypeSpec{Schema: json.RawMessage(schema)}}
}

func TestBookFollowsTheVersionsOfAType(t *testing.T) {
	book := payload.NewBook()
	text, number := typeOf("mail", `{"properties":{"a":{"type":"string"}}}`, rota.NewID()), typeOf("mail", `{"properties":{"a":{"type":"integer"}}}`, rota.NewID())
	for range 3 {
		if err := book.Check(text, json.RawMessage(`{"a":"x"}`)); err != nil {
			t.Error(err)
		}
		if err := book.Check(number, json.RawMessage(`{"a":"x"}`)); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
	}
}

func TestBookOfATypeThatNoStoreHasNumbered(t *testing.T) {
	book := payload.NewBook()
	if err := book.Check(typeOf("mail", `{"required":["a"]}`, rota.ID{}), json.RawMessage(`{}`)); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	if err := book.Check(typeOf("mail", `{}`, rota.ID{}), json.RawMessage(`{}`)); err != nil {
		t.Error(err)
	}
}

func TestATypeWithoutASchemaTakesEveryObject(t *testing.T) {
	book := payload.NewBook()
	for params, ok := range map[string]bool{``: true, `{}`: true, `{"a":[1]}`: true, `[]`: false, `1`: false, `{`: false} {
		if err := book.Check(&rota.Type{Name: "mail"}, json.RawMessage(params)); (err == nil) != ok {
			t.Errorf("%s: got %v", params, err)
		}
	}
}

func TestABadSchemaIsTheFaultOfTheType(t *testing.T) {
	book, bad := payload.NewBook(), typeOf("mail", `{"tipe":"object"}`, rota.NewID())
	for range 2 {
		err := book.Check(bad, json.RawMessage(`{}`))
		e, is := err.(*rota.Error)
		if !is || e.Code != rota.Invalid || e.Field != "type" || !strings.Contains(err.Error(), `schema of type "mail" cannot be used: schema.tipe: is not a keyword`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestBookIsBoundedAndSafeForConcurrentUse(t *testing.T) {
	book := payload.NewBook()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 400 {
				err := book.Check(typeOf(fmt.Sprintf("type%d", (i+n)%300), `{"required":["a"]}`, rota.NewID()), json.RawMessage(`{"a":1}`))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
