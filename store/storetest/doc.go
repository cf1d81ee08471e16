// Package storetest is the suite that every store passes. It is ordinary code,
// so that a store anywhere can be held to it:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Harness{Open: open, Break: damage})
//	}
//
// There are five parts. The stories, one file per verb, each show one promise
// through the contract alone, with time in their own hands. RandomAgainstModel
// sends long random sequences to the store and to package model, which is the
// law in its plainest form, and wants the same answers and the same rows.
// Replay wants one log of batches to leave the same rows in every store, however
// it is cut up. Races brings two commands to the point between deciding and
// writing, and wants what came of them to be what one after the other could have
// done. Concurrent lets many workers loose at once and audits the history
// afterwards.
//
// Slice runs a part of all that, for a store that is slow to open.
//
// The number of random sequences is rapid's flag, -rapid.checks; the number of
// jobs in the concurrent part is multiplied by ROTA_STORETEST_SCALE.
package storetest
