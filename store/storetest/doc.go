// Package storetest is the conformance suite for stores. Every implementation of rota.Store
// passes it. It is ordinary exported code, so that the author of another store can run it:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, storetest.Harness{Open: open, Break: damage})
//	}
//
// The suite has five parts:
//
//   - Stories are named scenarios, one file per verb or subject. Each shows one behaviour
//     through the contract alone, and sets the time of its batches itself.
//   - RandomAgainstModel sends long random sequences to the store and to package model, the
//     reference implementation, and wants the same answers and the same rows.
//   - Replay applies one log of batches to two stores, to one of them in smaller batches, and
//     wants the same rows.
//   - Races blocks two commands between deciding and writing, and wants a result that the two
//     commands could have had one after the other.
//   - Concurrent runs many workers at once and checks their answers and the rows afterwards.
//
// Slice runs a part of all that, for a store that is slow to open.
//
// The flag -rapid.checks of package rapid sets the number of random sequences. The environment
// variable ROTA_STORETEST_SCALE multiplies the number of jobs in the concurrent part.
//
// Start reading at Harness and Stories, then at the file of a verb.
package storetest
