//go:build rivals

package main

import _ "github.com/oxgang/oxgang/policy/rivals" // every policy, to compare them on a cluster
