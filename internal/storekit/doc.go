// Package storekit holds what the stores share.
package storekit
