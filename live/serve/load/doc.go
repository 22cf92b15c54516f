// Package load measures what a scheduler of one machine takes while 100 jobs run: it has
// nothing but tests. At the defaults, a round and a report of each job every 30 s, that
// should be at most 1 % of a core.
package load
