// Package simulate has the commands of oxgang that simulate, plan spending, explain, replay and report, and the page of
// a journal.
package simulate
