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

func TestSchemaCacheUsesTheVersionOfTheType(t *testing.T) {
	cache := payload.NewSchemaCache()
	text, number := typeOf("mail", `{"properties":{"a":{"type":"string"}}}`, rota.NewID()), typeOf("mail", `{"properties":{"a":{"type":"integer"}}}`, rota.NewID())
	for range 3 {
		if err := cache.Check(text, json.RawMessage(`{"a":"x"}`)); err != nil {
			t.Error(err)
		}
		if err := cache.Check(number, json.RawMessage(`{"a":"x"}`)); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("got %v, want Invalid", err)
		}
	}
}

func TestSchemaCacheSkipsATypeWithoutAVersion(t *testing.T) {
	cache := payload.NewSchemaCache()
	if err := cache.Check(typeOf("mail", `{"required":["a"]}`, rota.ID{}), json.RawMessage(`{}`)); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	if err := cache.Check(typeOf("mail", `{}`, rota.ID{}), json.RawMessage(`{}`)); err != nil {
		t.Error(err)
	}
}

func TestTypeWithoutASchemaAcceptsEveryObject(t *testing.T) {
	cache := payload.NewSchemaCache()
	for params, ok := range map[string]bool{``: true, `{}`: true, `{"a":[1]}`: true, `[]`: false, `1`: false, `{`: false} {
		if err := cache.Check(&rota.Type{Name: "mail"}, json.RawMessage(params)); (err == nil) != ok {
			t.Errorf("%s: got %v", params, err)
		}
	}
}

func TestInvalidSchemaIsAnErrorOfTheFieldType(t *testing.T) {
	cache, bad := payload.NewSchemaCache(), typeOf("mail", `{"tipe":"object"}`, rota.NewID())
	for range 2 {
		err := cache.Check(bad, json.RawMessage(`{}`))
		e, is := err.(*rota.Error)
		if !is || e.Code != rota.Invalid || e.Field != "type" || !strings.Contains(err.Error(), `schema of type "mail" cannot be used: schema.tipe: is not a keyword`) {
			t.Errorf("got %v", err)
		}
	}
}

func TestSchemaCacheIsSafeForConcurrentUse(t *testing.T) {
	cache := payload.NewSchemaCache()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := range 400 {
				err := cache.Check(typeOf(fmt.Sprintf("type%d", (i+n)%300), `{"required":["a"]}`, rota.NewID()), json.RawMessage(`{"a":1}`))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
