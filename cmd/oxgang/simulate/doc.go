// Package simulate has the commands of oxgang that simulate, explain, replay and report.
package simulate
