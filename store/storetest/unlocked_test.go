package storetest_test

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
	"github.com/rotajobs/rota/store/storetest/model"
)

// TestRacesFailForStoreWithoutLocks runs every race on a store that takes no locks. Each race
// must fail.
func TestRacesFailForStoreWithoutLocks(t *testing.T) {
	h := storetest.Harness{
		Open: func(testing.TB) rota.Store { return newUnlockedStore() },
		Pause: func(_ testing.TB, s rota.Store, at func([]rota.Command)) {
			s.(*unlockedStore).pause = at
		},
	}
	for name, run := range storetest.RaceTests() {
		t.Run(name, func(t *testing.T) {
			if seen := failures(t, func(tb testing.TB) { run(tb, h) }); seen == "" {
				t.Error("a store without locks passes this race")
			}
		})
	}
}

// TestStoreWithoutLocksEqualsModelWithoutConcurrency shows that the store without locks is
// wrong only under concurrency.
func TestStoreWithoutLocksEqualsModelWithoutConcurrency(t *testing.T) {
	storetest.AgainstModel(t, func() rota.Store { return newUnlockedStore() })
}

// TestRacesPassForModel shows that the gate alone makes no race fail.
func TestRacesPassForModel(t *testing.T) {
	h := storetest.Harness{
		Open: func(testing.TB) rota.Store { return &gatedStore{Model: model.New(time.Now)} },
		Pause: func(_ testing.TB, s rota.Store, at func([]rota.Command)) {
			s.(*gatedStore).pause = at
		},
	}
	for name, run := range storetest.RaceTests() {
		t.Run(name, func(t *testing.T) { run(t, h) })
	}
}

// gatedStore is the model with a gate inside its lock, like a store with one writer.
type gatedStore struct {
	*model.Model
	mu    sync.Mutex
	pause func([]rota.Command)
}

func (g *gatedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pause != nil {
		g.pause(b.Commands)
	}
	return g.Model.Apply(ctx, b)
}

// unlockedStore decides on the current rows, waits at the gate, and then overwrites the rows of
// that moment with its result.
type unlockedStore struct {
	*model.Model
	mu    sync.Mutex
	pause func([]rota.Command)
}

func newUnlockedStore() *unlockedStore { return &unlockedStore{Model: model.New(time.Now)} }

func (s *unlockedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	s.mu.Lock()
	before := *rowsOf(s.Model)
	s.mu.Unlock()
	trial := model.New(time.Now)
	setRows(trial, before)
	results, err := trial.Apply(ctx, b)
	if s.pause != nil {
		s.pause(b.Commands)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	setRows(s.Model, merged(before, *rowsOf(trial), *rowsOf(s.Model)))
	return results, err
}

// rowsOf reads the state of the model by reflection. The model never changes rows in place:
// each command creates a copy of the state.
func rowsOf(m *model.Model) *reflect.Value {
	f := reflect.ValueOf(m).Elem().FieldByName("state")
	rows := reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Elem()
	return &rows
}

func setRows(m *model.Model, rows reflect.Value) {
	f := reflect.ValueOf(m).Elem().FieldByName("state")
	reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(rows.Addr())
}

// merged applies the differences between before and after to the rows of now.
func merged(before, after, now reflect.Value) reflect.Value {
	result := reflect.New(now.Type()).Elem()
	for i := range now.NumField() {
		b, a, n, r := open(before.Field(i)), open(after.Field(i)), open(now.Field(i)), open(result.Field(i))
		switch {
		case n.Kind() == reflect.Map:
			r.Set(mergedMap(b, a, n))
		case n.Kind() == reflect.Slice:
			r.Set(mergedRows(b, a, n))
		case !reflect.DeepEqual(b.Interface(), a.Interface()):
			r.Set(a)
		default:
			r.Set(n)
		}
	}
	return result
}

// open makes an unexported field of the model readable.
func open(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

func mergedMap(before, after, now reflect.Value) reflect.Value {
	result := reflect.MakeMap(now.Type())
	for _, k := range now.MapKeys() {
		result.SetMapIndex(k, now.MapIndex(k))
	}
	for _, k := range append(before.MapKeys(), after.MapKeys()...) {
		b, a := before.MapIndex(k), after.MapIndex(k)
		if !b.IsValid() || !a.IsValid() || !reflect.DeepEqual(b.Interface(), a.Interface()) {
			result.SetMapIndex(k, a)
		}
	}
	return result
}

func mergedRows(before, after, now reflect.Value) reflect.Value {
	result := reflect.MakeSlice(now.Type(), 0, now.Len())
	for i := range now.Len() {
		row := now.Index(i)
		b, a := find(before, row), find(after, row)
		switch {
		case b.IsValid() && !a.IsValid(): // removed
		case a.IsValid() && (!b.IsValid() || !reflect.DeepEqual(a.Interface(), b.Interface())):
			result = reflect.Append(result, a)
		default:
			result = reflect.Append(result, row)
		}
	}
	for i := range after.Len() {
		row := after.Index(i)
		b := find(before, row)
		if changed := !b.IsValid() || !reflect.DeepEqual(b.Interface(), row.Interface()); changed && !find(now, row).IsValid() {
			result = reflect.Append(result, row)
		}
	}
	return result
}

// find returns the row of a list with the same id or name.
func find(rows, like reflect.Value) reflect.Value {
	for i := range rows.Len() {
		if nameOf(rows.Index(i)) == nameOf(like) {
			return rows.Index(i)
		}
	}
	return reflect.Value{}
}

func nameOf(row reflect.Value) any {
	row = reflect.Indirect(row)
	if id := row.FieldByName("ID"); id.IsValid() {
		return id.Interface()
	}
	if key := row.FieldByName("Key"); key.IsValid() { // a secret
		return rota.SecretName{Template: row.FieldByName("Template").String(), Key: key.String()}
	}
	return row.FieldByName("Name").Interface()
}

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	seen     []string
	cleanups []func()
}

// failures runs a test and returns its failures.
func failures(t testing.TB, test func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		test(r)
	}()
	<-done
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
	return strings.Join(r.seen, "\n")
}

func (r *recorder) record(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, text)
}

func (r *recorder) Helper()                           {}
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any)                 { r.record(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.record(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
