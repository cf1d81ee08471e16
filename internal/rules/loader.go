package rules

import (
	"fmt"
	"slices"
)

// Kind is a kind of rows or queries with keys of type K.
type Kind[K any] interface {
	Missing(u *UnitOfWork) []K
	number() kind
}

func (k kind) number() kind { return k }

// Loader loads what is missing of one kind. T is the transaction of a store.
type Loader[T any] struct {
	kind kind
	load func(T, *UnitOfWork) error
}

// LoadEach returns a loader that loads one key at a time.
func LoadEach[T, K any](k Kind[K], load func(T, K, *UnitOfWork) error) Loader[T] {
	return LoadAll(k, func(tx T, keys []K, u *UnitOfWork) error {
		for _, key := range keys {
			if err := load(tx, key, u); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadAll returns a loader that loads all keys together.
func LoadAll[T, K any](k Kind[K], load func(T, []K, *UnitOfWork) error) Loader[T] {
	return Loader[T]{kind: k.number(), load: func(tx T, u *UnitOfWork) error { return load(tx, k.Missing(u), u) }}
}

// LoadMissing loads what is missing of all kinds, in the order of the loaders.
func LoadMissing[T any](tx T, u *UnitOfWork, loaders []Loader[T]) error {
	for i := range loaders {
		if t := u.tables[loaders[i].kind]; t != nil && t.missing() > 0 {
			if err := loaders[i].load(tx, u); err != nil {
				return err
			}
		}
	}
	return nil
}

// MissesOther reports whether rows of any other kind than these, or of the orders, are missing.
func MissesOther(u *UnitOfWork, kinds ...interface{ number() kind }) bool {
	for k, t := range u.tables {
		if t != nil && t.missing() > 0 && !slices.ContainsFunc(kinds, func(one interface{ number() kind }) bool { return one.number() == kind(k) }) {
			return true
		}
	}
	return u.orders != Orders{}
}

// CheckLoaders returns an error unless there is one loader for each kind that is
// ever missing.
func CheckLoaders[T any](loaders []Loader[T]) error {
	count := make([]int, len(kindNames))
	count[IntentRecords.kind]++ // PendingIntents reads them
	for i := range loaders {
		count[loaders[i].kind]++
	}
	for k, n := range count {
		if n != 1 {
			return fmt.Errorf("there are %d loaders for %s", n, kindNames[k])
		}
	}
	return nil
}
