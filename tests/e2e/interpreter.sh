# Work for an interpreter, $1 times: loops, words, strings, arithmetic, functions.
gcd() {
	if [ "$2" = 0 ]; then
		divisor=$1
	else
		gcd "$2" $(($1 % $2))
	fi
}

parts() {
	count=0
	for word in $1; do
		case $word in
		a*) count=$((count + 1)) ;;
		*b) count=$((count + 10)) ;;
		*) count=$((count + 100)) ;;
		esac
	done
}

i=0
text=
sum=0
while [ "$i" -lt "$1" ]; do
	i=$((i + 1))
	text=${text#????????????????}x$i
	parts "apple ${text%[0-9]} crab date"
	gcd $((i * 6)) 21
	sum=$(((sum * 31 + count + divisor + ${#text}) % 65521))
done
echo "$i $sum $text"
exit 8
