# SPDX-License-Identifier: MIT
my %h;
$h{$_ % 977} .= "x$_" for 1 .. 150000;
print length(join ",", sort values %h), "\n";
