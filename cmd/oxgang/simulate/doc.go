// Package simulate has the commands that simulate, explain, replay and report.
package simulate
