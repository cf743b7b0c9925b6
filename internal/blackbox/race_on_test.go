//go:build race

package blackbox

const raceBuild = true
